/**
 * Keeps what each run defines for the next one. Runs come through the channel, descriptor 4, as mark
 * and code, each ended by a NUL; results and errors go back there, one line each, after the mark. Needs
 * Python 3.8 and nothing else.
 */
export const PYTHON_PROGRAM = String.raw`
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import ast, base64, builtins, io, json, linecache, os, traceback, types
from _thread import RLock

CHANNEL = 4
COROUTINE = 0x80
LONGEST = 900000
pid = os.getpid()
lock = RLock()
mark = b''
os.set_inheritable(CHANNEL, False)

def send(kind, data):
    if os.getpid() != pid or not mark:
        return
    line = mark + b' ' + kind + b' ' + data + b'\n'
    with lock:
        while line:
            line = line[os.write(CHANNEL, line):]

def emit(event):
    data = json.dumps(event).encode('utf-8', 'backslashreplace')
    if len(data) > LONGEST:
        event = {key: str(value)[:20000] for key, value in event.items() if key != 'json'}
        data = json.dumps(event).encode('utf-8', 'backslashreplace')
    send(b'J', data)

METHODS = (
    ('_repr_png_', 'image/png'), ('_repr_jpeg_', 'image/jpeg'), ('_repr_svg_', 'image/svg+xml'),
    ('_repr_html_', 'text/html'), ('_repr_markdown_', 'text/markdown'), ('_repr_latex_', 'text/latex'),
)
SIGNATURES = ((b'\x89PNG\r\n\x1a\n', 'image/png'), (b'\xff\xd8\xff', 'image/jpeg'))

def show(mime, data):
    if isinstance(data, str):
        data = data.encode('utf-8', 'backslashreplace')
    send(b'D', mime.encode() + b' ' + base64.b64encode(data))

def rich(value):
    if isinstance(value, (bytes, bytearray)):
        return [(mime, bytes(value)) for start, mime in SIGNATURES if value.startswith(start)]
    found = []
    for method, mime in METHODS:
        make = getattr(value, method, None) if not isinstance(value, type) else None
        made = make() if callable(make) else None
        made = made[0] if isinstance(made, tuple) else made
        if isinstance(made, (str, bytes)):
            found.append((mime, made))
    return found

def plain(value, depth=0):
    if value is None or isinstance(value, (bool, str)):
        return True
    if isinstance(value, (int, float)):
        return value == value and abs(value) < 1e300
    if depth > 50:
        return False
    if type(value) in (list, tuple):
        return all(plain(item, depth + 1) for item in value)
    if type(value) is dict:
        return all(type(key) is str and plain(item, depth + 1) for key, item in value.items())
    return False

def display(*values, **ignored):
    for value in values:
        found = rich(value)
        for mime, data in found:
            show(mime, data)
        if not found:
            show('text/plain', repr(value))

def result(value):
    found = rich(value)
    for mime, data in found:
        show(mime, data)
    if found:
        return
    event = {'type': 'result', 'text': repr(value)[:500000]}
    if plain(value):
        event['json'] = value
    emit(event)

def show_figures():
    plots = sys.modules.get('matplotlib.pyplot')
    for number in plots.get_fignums() if plots else ():
        data = io.BytesIO()
        plots.figure(number).savefig(data, format='png')
        show('image/png', data.getvalue())
    if plots:
        plots.close('all')

main = types.ModuleType('__main__')
main.__dict__.update({'__builtins__': builtins, 'display': display})
loop = None

def wait_for(awaitable):
    global loop
    if loop is None:
        import asyncio
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    return loop.run_until_complete(awaitable)

def evaluate(tree, name, mode):
    code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(code, main.__dict__)
    return wait_for(value) if code.co_flags & COROUTINE else value

def run(source, name):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    evaluate(tree, name, 'exec')
    if final is not None:
        value = evaluate(ast.Expression(final.value), name, 'eval')
        if value is not None:
            main.__dict__['_'] = value
            result(value)
    show_figures()

def report(error):
    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith('<run '):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error.with_traceback(frames), frames)
    emit({'type': 'error', 'name': type(error).__name__, 'message': str(error)[:20000],
          'trace': ''.join(lines)[-20000:]})

def attempt(source, name):
    status = 0
    try:
        run(source, name)
    except SystemExit as error:
        code = error.code
        status = 0 if code is None else code & 255 if isinstance(code, int) else 1
        if status:
            report(error)
    except BaseException as error:
        status = 1
        report(error)
    if os.getpid() != pid:
        # A child of the code that ran on: nobody waits for it here.
        os._exit(status)
    return status

def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass

def serve():
    global mark
    sys.argv = ['']
    sys.modules['__main__'] = main
    sys.path.insert(0, '')
    os.environ.setdefault('MPLBACKEND', 'Agg')
    for name, number in (('stdout', 1), ('stderr', 2)):
        raw = io.FileIO(number, 'w', closefd=False)
        stream = io.TextIOWrapper(raw, 'utf-8', 'backslashreplace', newline='\n', write_through=True)
        setattr(sys, name, stream)
    pending, count = b'', 0
    while True:
        while pending.count(b'\0') < 2:
            piece = os.read(CHANNEL, 65536)
            if not piece:
                return
            pending += piece
        mark, code, pending = pending.split(b'\0', 2)
        count += 1
        status = attempt(code.decode('utf-8', 'replace'), f'<run {count}>')
        flush()
        for number in (1, 2):
            try:
                os.write(number, b'\x1e' + mark + b'\x1e')
            except OSError:
                pass
        emit({'type': 'done', 'status': status})

serve()
`
