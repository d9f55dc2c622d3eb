/** The proxy's port inside the sandbox; nothing else listens in its network namespace. */
export const PROXY_PORT = 3128;

/**
 * A script for `node -e`, as a string because Sluice's own files do not exist inside the sandbox. It forwards
 * connections from loopback to the proxy's socket, and starts the agent once it is listening. Its arguments: the
 * socket, the port, the agent's command. It ignores signals, which reach the agent too, and exits with the agent's exit
 * code.
 */
export const FORWARDER = `
const net = process.getBuiltinModule('node:net');
const { constants } = process.getBuiltinModule('node:os');
const { spawn } = process.getBuiltinModule('node:child_process');
const [socket, port, program, ...args] = process.argv.slice(1);
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => undefined);
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: socket, allowHalfOpen: true });
  const end = () => { inner.destroy(); outer.destroy(); };
  inner.on('error', end);
  outer.on('error', end);
  inner.pipe(outer);
  outer.pipe(inner);
});
server.maxConnections = 256;
server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    process.stderr.write('Cannot launch "' + program + '": ' + error.message + '\\n');
    process.exit(127);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
});
`;

/**
 * Returns the variables that make processes use the proxy. Processes that ignore them have no network. With
 * `proxiesLoopback`, loopback addresses also go through the proxy, to the host; otherwise they stay inside the sandbox.
 */
export function createProxyEnvironment(proxiesLoopback: boolean): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const direct = proxiesLoopback ? '' : 'localhost,127.0.0.1,::1';
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node.js (since 22.21 and 24.0) uses the proxy only if this is set.
    NODE_USE_ENV_PROXY: '1',
  };
}
