/**
 * The program of a Python context: takes one JSON line for each run on descriptor 3 and answers
 * with one JSON line for each output on descriptor 4. What a run defines stays for the next one.
 */
export const PYTHON_DRIVER = String.raw`
import ast, base64, builtins, inspect, io, json, linecache, os, sys, threading, time
import traceback, types

requests = os.fdopen(3, 'r', encoding='utf-8')
events = os.fdopen(4, 'w', encoding='utf-8')
for descriptor in (3, 4):
    os.set_inheritable(descriptor, False)
lock = threading.RLock()

def emit(event):
    with lock:
        events.write(json.dumps(event, default=str) + '\n')
        events.flush()

class Output(io.TextIOBase):
    """Sends text on in pieces: at once when little comes, together when much comes."""
    def __init__(self, name):
        self.name, self.parts, self.size, self.sent = name, [], 0, 0.0
    def writable(self):
        return True
    def write(self, text):
        with lock:
            for other in outputs:
                if other is not self:
                    other.flush()
            self.parts.append(text)
            self.size += len(text)
            if self.size > 8192 or ('\n' in text and time.monotonic() - self.sent > 0.02):
                self.flush()
        return len(text)
    def flush(self):
        with lock:
            text = ''.join(self.parts)
            self.parts, self.size, self.sent = [], 0, time.monotonic()
            if text:
                emit({'type': self.name, 'text': text})

METHODS = {
    '_repr_html_': 'html', '_repr_png_': 'png', '_repr_jpeg_': 'jpeg', '_repr_svg_': 'svg',
    '_repr_latex_': 'latex', '_repr_markdown_': 'markdown', '_repr_javascript_': 'javascript',
    '_repr_json_': 'json',
}
SIGNATURES = ((b'\x89PNG\r\n\x1a\n', 'png'), (b'\xff\xd8\xff', 'jpeg'))

def encoded(value):
    return base64.b64encode(value).decode() if isinstance(value, (bytes, bytearray)) else value

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
    sys.stdout.flush()
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
            return f'<{method.strip("_").removeprefix("repr_")} object>'
    setattr(Rich, method, lambda self: self.data)
    return Rich

class Image(rich('_repr_png_')):
    def _repr_png_(self):
        return None if self._repr_jpeg_() else self.data
    def _repr_jpeg_(self):
        return self.data if bytes(self.data).startswith(b'\xff\xd8\xff') else None

def offer_display():
    try:
        import IPython.display as module
    except ImportError:
        package, module = types.ModuleType('IPython'), types.ModuleType('IPython.display')
        package.display = module
        sys.modules.update({'IPython': package, 'IPython.display': module})
        module.Image = Image
        for name, method in (('HTML', '_repr_html_'), ('Markdown', '_repr_markdown_'),
                ('SVG', '_repr_svg_'), ('Latex', '_repr_latex_'), ('JSON', '_repr_json_'),
                ('Javascript', '_repr_javascript_')):
            setattr(module, name, rich(method))
    module.display = display

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
sys.modules['__main__'] = main
loop = None

def wait_for(awaitable):
    global loop
    if loop is None:
        import asyncio
        loop = asyncio.new_event_loop()
    return loop.run_until_complete(awaitable)

def evaluate(tree, name, mode):
    code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(code, main.__dict__)
    if code.co_flags & inspect.CO_COROUTINE:
        value = wait_for(value)
    return value

def run(source, count):
    name = f'<cell {count}>'
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    evaluate(tree, name, 'exec')
    if last is not None:
        value = evaluate(ast.Expression(last.value), name, 'eval')
        if value is not None:
            main.__dict__['_'] = value
            display(value)
    show_figures()

def report(error):
    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith('<cell'):
        frames = frames.tb_next
    lines = traceback.format_exception(type(error), error.with_traceback(frames), frames)
    emit({'type': 'error', 'name': type(error).__name__, 'message': str(error),
          'traceback': [line.rstrip('\n') for line in lines]})

sys.argv = ['']
try:
    os.chdir(os.environ.pop('HELIX_CONTEXT_CWD'))
except OSError:
    os.chdir(os.path.expanduser('~'))
sys.path.insert(0, '')
offer_display()
outputs = sys.stdout, sys.stderr = Output('stdout'), Output('stderr')
emit({'type': 'ready'})
for count, line in enumerate(requests, 1):
    try:
        run(json.loads(line)['code'], count)
    except BaseException as error:
        sys.stdout.flush()
        report(error)
    sys.stdout.flush()
    sys.stderr.flush()
    emit({'type': 'end', 'executionCount': count})
`
