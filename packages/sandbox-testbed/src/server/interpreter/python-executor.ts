/**
 * The program of a Python executor, as the real server has one: a request a line on stdin, a reply a
 * line on stdout, the same stdin and stdout that the code sees. What the code prints by Python itself
 * is collected and comes with the reply; whatever else writes to stdout spoils it.
 *
 * The first argument says whether the image has IPython, whose shell the real one runs code in.
 */
export const PYTHON_EXECUTOR = String.raw`
import ast, base64, builtins, contextlib, inspect, io, json, sys, traceback, types

if sys.argv[1] != 'ipython':
    raise ModuleNotFoundError("No module named 'IPython'")
sys.argv = ['']
sys.path.insert(0, '')
channel = sys.stdout
main = types.ModuleType('__main__')
main.__dict__['__builtins__'] = builtins
sys.modules['__main__'] = main
outputs = []

METHODS = {
    '_repr_html_': 'html', '_repr_png_': 'png', '_repr_jpeg_': 'jpeg', '_repr_svg_': 'svg',
    '_repr_latex_': 'latex', '_repr_markdown_': 'markdown', '_repr_javascript_': 'javascript',
    '_repr_json_': 'json',
}

def formats(value):
    found = {'text': repr(value)}
    for method, name in METHODS.items():
        make = getattr(value, method, None) if not isinstance(value, type) else None
        made = make() if callable(make) else None
        if made is not None:
            found[name] = base64.b64encode(made).decode() if isinstance(made, bytes) else made
    return found

def display(*values, **ignored):
    outputs.extend(formats(value) for value in values)

main.__dict__['display'] = display

def evaluate(tree, name, mode):
    code = compile(tree, name, mode, flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    value = eval(code, main.__dict__)
    if code.co_flags & inspect.CO_COROUTINE:
        import asyncio
        value = asyncio.run(value)
    return value

def run_cell(source, count):
    name = f'<cell {count}>'
    last = None
    try:
        tree = ast.parse(source, name)
    except SyntaxError as error:
        show(error)
        # The shell notes such an error elsewhere than the executor looks for one.
        return None
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        last = tree.body.pop()
    try:
        evaluate(tree, name, 'exec')
        if last is not None:
            value = evaluate(ast.Expression(last.value), name, 'eval')
            if value is not None:
                print(f'Out[{count}]: {value!r}')
                display(value)
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        lines = show(error)
        return {'name': type(error).__name__, 'message': str(error), 'traceback': lines}
    return None

def show(error):
    lines = [line.rstrip('\n') for line in traceback.format_exception(error)]
    lines = ['\x1b[31m' + line + '\x1b[39m' for line in lines]
    print('\n'.join(lines))
    return lines

def reply(message):
    channel.write(json.dumps(message, default=str) + '\n')
    channel.flush()

reply({'ready': True})
count = 0
while True:
    line = sys.stdin.readline()
    if not line:
        break
    request = json.loads(line)
    count += 1
    outputs.clear()
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        error = run_cell(request['code'], count)
    reply({'id': request['id'], 'stdout': out.getvalue(), 'stderr': err.getvalue(),
           'outputs': list(outputs), 'error': error, 'count': count})
`
