import { tmpdir } from 'node:os';
import { getObject } from '../../events/index.js';
import { INITIALIZE, readAccepts } from '../conversation/acp-client.js';
import { RpcPeer } from '../conversation/rpc-peer.js';
import { getLauncher } from '../launchers/launchers.js';
import { resolvePorts } from '../ports/run-ports.js';
import { ACCEPTS_TEXT_ONLY } from '../ports/run-inputs.js';
import type { RunPorts } from '../ports/run-ports.js';
import type { AcceptedInputs } from '../ports/run-inputs.js';
import { launchProcess } from '../process/launch-process.js';
import type { RunningProcess } from '../process/launch-process.js';
import { getProgramCommand, selectAgentEnvironment } from './prepare-launch.js';

/** The time an agent has to report its capabilities. */
const TIMEOUT_MS = 20_000;

/**
 * Detects which inputs an engine accepts besides text. An ACP agent has to be started for this and is then stopped; if
 * it does not respond in time, it gets only text.
 *
 * @example
 * await findAcceptedInputs('gemini-acp', ports) // { attachments: ['image', 'audio', 'file'], mcpServers: ['stdio', 'http', 'sse'] }
 */
export async function findAcceptedInputs(
  engine: string,
  ports: RunPorts,
  { timeoutMs = TIMEOUT_MS }: { readonly timeoutMs?: number } = {},
): Promise<AcceptedInputs> {
  const resolved = resolvePorts(ports);
  const launcher = getLauncher(engine, resolved.agents, resolved.launchers);
  if (launcher.format !== 'acp') return launcher.accepts ?? ACCEPTS_TEXT_ONLY;
  const folder = tmpdir();
  const spec = { engine, workdir: folder };
  const { command, env } = launcher.launch({ prompt: '-', workdir: folder, runDir: folder, permissions: 'safe' });
  const [program, ...args] = command;
  const words = getProgramCommand({ spec, ports: resolved }, program);
  const environment = { ...selectAgentEnvironment({ spec, launcher, ports: resolved }), ...env };
  try {
    const running = await launchProcess(
      { command: [...words, ...args], cwd: folder, env: environment, keepInput: true },
      { graceMs: 500 },
    );
    try {
      return await readCapabilities(running, timeoutMs);
    } finally {
      await running.stop();
    }
  } catch {
    return ACCEPTS_TEXT_ONLY;
  }
}

async function readCapabilities(running: RunningProcess, handshakeMs: number): Promise<AcceptedInputs> {
  return new Promise((resolve) => {
    const acceptTextOnly = (): void => resolve(ACCEPTS_TEXT_ONLY);
    const peer = new RpcPeer(
      {
        send: (message) => running.input.write(Buffer.from(`${JSON.stringify(message)}\n`)),
        onRequest: (id, method) => peer.rejectMethod(id, method),
        onNotification: () => undefined,
        onError: acceptTextOnly,
        onProtocolViolation: acceptTextOnly,
      },
      { engine: 'acp', envelope: { jsonrpc: '2.0' }, handshakeMs },
    );
    const read = async (): Promise<void> => {
      for await (const { stream, bytes } of running.output) if (stream === 'stdout') peer.receive(bytes);
    };
    read().then(acceptTextOnly, acceptTextOnly);
    peer.requestWithTimeout(
      'initialize',
      INITIALIZE,
      (result) => {
        peer.close();
        resolve(readAccepts(getObject(result, 'agentCapabilities') ?? {}));
      },
      acceptTextOnly,
    );
  });
}
