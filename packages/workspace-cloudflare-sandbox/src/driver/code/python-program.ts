/**
 * The Python of a code run. `once text CODE` or `once file PATH` runs code as a program of its own;
 * `serve HOME DIRECTORY` keeps what each run defines for the next one, and takes runs from the pipe `in`.
 *
 * Outputs go to descriptors 1 and 2 as those of any program do, so that children share them. Results,
 * displays and errors go to a descriptor that no child gets, one JSON line each, with how much had been
 * printed by then. Needs Python 3.8 and nothing else.
 */
export const PYTHON_PROGRAM = String.raw`
import sys
sys.path[:] = [folder for folder in sys.path if folder]
import ast, builtins, io, json, os, types
from _thread import RLock

MARKS = 2000
COROUTINE = 0x80
pid = os.getpid()
lock = RLock()
events = 3
marks = 0
last = None

def own(name):
    """A module of the library, loaded when it is needed: no file of the workspace has its place."""
    found = sys.modules.get(name)
    path = sys.path[:]
    sys.path[:] = [folder for folder in path if folder]
    try:
        return found or __import__(name, fromlist=['*'])
    finally:
        sys.path[:] = path

def emit(event):
    if os.getpid() != pid or events < 0:
        return
    with lock:
        event['at'] = [os.fstat(number).st_size for number in (1, 2)]
        data = (json.dumps(event, default=str) + '\n').encode('utf-8', 'backslashreplace')
        while data:
            data = data[os.write(events, data):]

class Output(io.TextIOWrapper):
    """Writes at once, and notes when the other output was written in between."""
    def __init__(self, number):
        raw = io.FileIO(number, 'w', closefd=False)
        super().__init__(raw, 'utf-8', 'backslashreplace', newline='\n', write_through=True)
    def write(self, text):
        global last, marks
        if last is not self:
            if last is not None and marks < MARKS:
                marks += 1
                emit({'type': 'mark'})
            last = self
        return super().write(text)

METHODS = {
    '_repr_html_': 'html', '_repr_png_': 'png', '_repr_jpeg_': 'jpeg', '_repr_svg_': 'svg',
    '_repr_latex_': 'latex', '_repr_markdown_': 'markdown', '_repr_javascript_': 'javascript',
    '_repr_json_': 'json',
}
SIGNATURES = ((b'\x89PNG\r\n\x1a\n', 'png'), (b'\xff\xd8\xff', 'jpeg'))

def encoded(value):
    if not isinstance(value, (bytes, bytearray)):
        return value
    return own('base64').b64encode(value).decode()

def formats(value):
    found = {'text': repr(value)}
    if isinstance(value, bytes):
        for start, name in SIGNATURES:
            if value.startswith(start):
                return {'text': f'<{name} image, {len(value)} bytes>', name: encoded(value)}
    for method, name in METHODS.items():
        make = getattr(value, method, None) if not isinstance(value, type) else None
        made = make() if callable(make) else None
        if made is not None:
            found[name] = encoded(made[0] if isinstance(made, tuple) else made)
    return found

def display(*values, **ignored):
    for value in values:
        emit({'type': 'result', **formats(value)})

def rich(method):
    class Rich:
        def __init__(self, data=None, filename=None, **ignored):
            if filename is not None:
                with open(filename, 'rb') as file:
                    data = file.read()
            self.data = data
        def __repr__(self):
            return f'<{method.strip("_")[5:]} object>'
    setattr(Rich, method, lambda self: self.data)
    return Rich

class Image(rich('_repr_png_')):
    def _repr_png_(self):
        return None if self._repr_jpeg_() else self.data
    def _repr_jpeg_(self):
        return self.data if bytes(self.data).startswith(b'\xff\xd8\xff') else None

def stand_in():
    package, module = types.ModuleType('IPython'), types.ModuleType('IPython.display')
    package.display, module.display, module.Image = module, display, Image
    for name, method in (('HTML', '_repr_html_'), ('Markdown', '_repr_markdown_'),
            ('SVG', '_repr_svg_'), ('Latex', '_repr_latex_'), ('JSON', '_repr_json_'),
            ('Javascript', '_repr_javascript_')):
        setattr(module, name, rich(method))
    return {'IPython': package, 'IPython.display': module}

class DisplayFinder:
    """Where there is IPython, its displays come here; where there is none, ours stand in."""
    def find_spec(self, name, path=None, target=None):
        if name.split('.')[0] != 'IPython':
            return None
        sys.meta_path.remove(self)
        try:
            import IPython.display as module
            module.display = display
        except ImportError:
            sys.modules.update(stand_in())
        return own('importlib.util').spec_from_loader(name, Ready())

class Ready:
    def create_module(self, spec):
        return sys.modules[spec.name]
    def exec_module(self, module):
        pass

sys.meta_path.insert(0, DisplayFinder())

def show_figures():
    plots = sys.modules.get('matplotlib.pyplot')
    for number in plots.get_fignums() if plots else ():
        data = io.BytesIO()
        plots.figure(number).savefig(data, format='png')
        display(data.getvalue())
    if plots:
        plots.close('all')

main = types.ModuleType('__main__')
main.__dict__.update({'__builtins__': builtins, 'display': display})
loop = None
cells = {}

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

def run(source, count):
    name = f'<cell {count}>'
    cells[name] = source
    tree = ast.parse(source, name)
    final = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    evaluate(tree, name, 'exec')
    if final is not None:
        value = evaluate(ast.Expression(final.value), name, 'eval')
        if value is not None:
            main.__dict__['_'] = value
            display(value)
    show_figures()

def report(error):
    linecache, traceback = own('linecache'), own('traceback')
    for name, source in cells.items():
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith('<cell'):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error.with_traceback(frames), frames)
    emit({'type': 'error', 'name': type(error).__name__, 'message': str(error),
          'traceback': [line.rstrip('\n') for line in lines]})

def status_of(error):
    code = error.code
    if code is None:
        return 0
    return code & 255 if isinstance(code, int) else 1

def attempt(source, count):
    status = 0
    try:
        run(source, count)
    except SystemExit as error:
        status = status_of(error)
        if status:
            report(error)
    except BaseException as error:
        status = 1
        report(error)
    if os.getpid() != pid:
        # A child of the code that ran on: nobody waits for it here.
        os._exit(status)
    return status

def begin():
    sys.argv = ['']
    sys.modules['__main__'] = main
    sys.path.insert(0, '')
    os.environ.setdefault('MPLBACKEND', 'Agg')
    sys.stdout = sys.__stdout__ = Output(1)
    sys.stderr = sys.__stderr__ = Output(2)

def once(kind, value):
    os.set_inheritable(events, False)
    if kind == 'file':
        with open(value, encoding='utf-8', newline='') as file:
            source = file.read()
        os.unlink(value)
    else:
        source = value
    begin()
    sys.exit(attempt(source, 1))

def find_way(known):
    """Goes where it was, when something else has that name by now."""
    for path in known:
        try:
            if os.path.samefile(path, '.'):
                return
        except OSError:
            pass
        try:
            os.chdir(path)
            return
        except OSError:
            continue

def here(given):
    """By the name that it was given, where that is a link as well."""
    try:
        return given if os.path.samefile(given, '.') else os.getcwd()
    except OSError:
        return given

def serve(home, given):
    global events, marks, last
    was = given
    requests = os.fdopen(os.open(home + '/in', os.O_RDWR), 'r', encoding='utf-8')
    done = os.open(home + '/done', os.O_RDWR)
    kept = [os.dup(number) for number in (1, 2)]
    events = -1
    begin()
    os.write(done, b'ready 0\n')
    for count, line in enumerate(iter(requests.readline, ''), 1):
        mark, client = line.split()
        for number in (1, 2):
            output = os.open(f'/proc/{client}/fd/{number + 3}', os.O_WRONLY | os.O_APPEND)
            os.dup2(output, number)
            os.close(output)
        events = os.open(f'/proc/{client}/fd/6', os.O_WRONLY | os.O_APPEND)
        with open(home + '/code', encoding='utf-8', newline='') as file:
            source = file.read()
        marks, last = 0, None
        find_way([was, given])
        status = attempt(source, count)
        was = here(given)
        for number in (1, 2):
            os.dup2(kept[number - 1], number)
        os.close(events)
        events = -1
        os.write(done, f'{mark} {status}\n'.encode())

if sys.argv[1] == 'serve':
    serve(*sys.argv[2:4])
else:
    once(*sys.argv[2:4])
`
