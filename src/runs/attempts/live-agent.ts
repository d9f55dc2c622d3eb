import { join, dirname } from 'node:path';
import { getErrorMessage, omitUndefined } from '../../base/index.js';
import { Conversation } from '../conversation/conversation.js';
import type { PreparedLaunch } from '../launch/prepare-launch.js';
import { openCgroup, readPidMark, trackTree } from '../process/descendants.js';
import { terminateEscapedProcesses } from '../process/terminate-orphans.js';
import { launchProcess, type RunningProcess } from '../process/launch-process.js';
import type { OutputChunk } from '../process/output-queue.js';
import { recordProcess } from '../process/process-record.js';
import { createAttemptSecrets } from '../secrets/compile-secrets.js';
import { type RunContext, warn } from './run-context.js';
import {
  type Sandbox,
  openSandbox,
  openSidecar,
  probeSandbox,
  SandboxError,
  type DeniedHost,
} from '../sandbox/index.js';
import { AUDIT_FOLDER } from '../run-folder/index.js';
import type { RunSandbox } from '../../store/records/index.js';
import { isWithin } from '../../base/files/index.js';
import { createGitGuards, findGuardsFolder } from '../workspace/git-guards.js';
import { openRunContainer } from '../placement/run-container.js';

/** A run's agent process. With a two-way protocol it can serve multiple attempts. */
export type LiveAgent = Awaited<ReturnType<typeof launchAgent>>;

/** The maximum output, in bytes, buffered from a process between two attempts. */
const MAX_LEFTOVER_BYTES = 1024 * 1024;

export async function launchAgent(
  context: RunContext,
  plan: { readonly workdir: string; readonly sessionId: string | null },
  prepared: PreparedLaunch,
) {
  const { ports, runDir, spec, launcher } = context;
  const { command, env, stdin, converse } = prepared;
  const { sandbox, report } = await prepareSandbox(context, plan.workdir, prepared);
  context.progress.sandbox = report;
  const processRecord = await recordProcess(join(ports.data, 'processes'), runDir);
  const before = readPidMark();
  let running: RunningProcess;
  try {
    if (sandbox?.container !== undefined) processRecord.addContainer(sandbox.container.name);
    const input = converse !== undefined ? { keepInput: true } : stdin === undefined ? {} : { stdin };
    const isTerminalDefault =
      launcher.usesTerminal === true && converse === undefined && sandbox?.container === undefined;
    const terminal = spec.terminal ?? (isTerminalDefault ? 'optional' : false);
    const installHint = launcher.engine === 'command' ? undefined : launcher.installHint;
    const optional = omitUndefined({ sandbox, installHint });
    running = await launchProcess({ command, cwd: plan.workdir, env, ...input, terminal, ...optional });
  } catch (error) {
    await sandbox?.close();
    processRecord.remove();
    throw error;
  }
  const { pid } = running.identity;
  // Processes cannot escape a sandbox. Without one, this finds processes that left the process group and cleared their
  // environment.
  const descendants = sandbox === undefined ? trackDescendants(pid) : undefined;
  const conversation =
    converse === undefined
      ? null
      : new Conversation(context, {
          request: {
            ...converse,
            workdir: plan.workdir,
            sessionId: plan.sessionId,
            keepMode: spec.permissions === 'bypass',
            ...omitUndefined({ model: spec.model }),
          },
          running,
          isSandboxed: sandbox !== undefined,
        });
  const { output } = running;
  let hasExited = false;
  void running.exited.then(() => (hasExited = true));
  let ending: Promise<void> | null = null;

  async function stopAll(): Promise<void> {
    conversation?.close();
    try {
      await running.stop().catch((error: unknown) => {
        ports.logger.warn('cannot terminate a process of the run', {
          run_id: context.id,
          error: getErrorMessage(error),
        });
      });
      await (await descendants)?.end();
      if (sandbox === undefined) await terminateEscapedProcesses(runDir, before);
      await sandbox?.close();
      processRecord.remove();
    } catch (error) {
      // Its record stays, so the next process of Sluice tries again.
      ports.logger.warn('cannot confirm the end of a process of the run', {
        run_id: context.id,
        error: getErrorMessage(error),
      });
    }
  }
  const end = async (): Promise<void> => {
    ending ??= stopAll();
    await ending;
  };

  let stopPromise: Promise<readonly OutputChunk[]> | null = null;

  async function stopAndDrain(): Promise<readonly OutputChunk[]> {
    conversation?.finish();
    const secrets = createAttemptSecrets(env, ports.secretPatterns);
    const rest: OutputChunk[] = [];
    let remainingBytes = MAX_LEFTOVER_BYTES;
    output.resume();
    for (let chunk = await output.read(); chunk !== null && remainingBytes > 0; chunk = await output.read()) {
      const bytes = secrets.mask(chunk.stream, chunk.bytes.subarray(0, remainingBytes));
      remainingBytes -= chunk.bytes.length;
      rest.push({ stream: chunk.stream, bytes });
    }
    output.abandon();
    await end();
    return [...rest, ...secrets.endMask()].filter(({ bytes }) => bytes.length > 0);
  }

  try {
    processRecord.addProcess(running.identity);
  } catch (error) {
    await end();
    throw error;
  }
  return {
    running,
    /** Undefined if it runs without a sandbox. */
    sandbox,
    /** Null for a one-way agent. */
    conversation,
    command,
    env,
    /** Whether it can run another turn. */
    get isAlive() {
      return ending === null && stopPromise === null && !hasExited;
    },
    /** Terminates the process and its descendants; resolves once all of them have exited. */
    end,
    /** Stops the process between two attempts and returns its remaining output for the next attempt to record. */
    stopBetweenAttempts: async () => (stopPromise ??= stopAndDrain()),
  };
}

/** Tracks the descendants of a process: with a cgroup if possible, otherwise by scanning the process list. */
async function trackDescendants(pid: number): Promise<{ end(): Promise<void> }> {
  const cgroup = openCgroup(pid);
  return cgroup === undefined ? trackTree(pid) : ((await cgroup) ?? trackTree(pid));
}

/**
 * Prepares an attempt's sandbox, and its description for the result; both undefined if none was requested. Throws
 * `SandboxError` if a sandbox is required and cannot be created.
 */
async function prepareSandbox(
  context: RunContext,
  workdir: string,
  launch: PreparedLaunch,
): Promise<{ readonly sandbox: Sandbox | undefined; readonly report: RunSandbox | undefined }> {
  const { spec, ports, runDir, launcher } = context;
  const { hidden = [], configuration } = ports.sandbox;
  const use = ports.sandbox.use === 'required' ? 'required' : (spec.sandbox ?? ports.sandbox.use);
  const isContainer = spec.placement === 'container';
  const { sidecar } = ports.sandbox;
  if (use === 'off' && !isContainer && sidecar === undefined) return { sandbox: undefined, report: undefined };
  const { network = 'host' } = spec;
  const request = {
    command: launch.command,
    workdir,
    env: { ...launch.env, ...launcher.sandboxEnvironment },
    runDir,
    hidden: [
      dirname(dirname(runDir)),
      join(runDir, AUDIT_FOLDER),
      ...hidden,
      // An agent would otherwise commit a project without its configuration.
      ...(configuration === undefined || (!configuration.hasTokens && isWithin(workdir, configuration.file))
        ? []
        : [configuration.file]),
    ],
    isRequired: use === 'required',
    guards: createGitGuards(await findGuardsFolder(dirname(dirname(runDir))), context.id),
    network,
    onDenied: (denied: DeniedHost) => reportDenied(context, denied),
  };
  if (sidecar !== undefined) {
    const report = { used: true, network, engine: 'kubernetes: a separate container, with another user' };
    return { sandbox: await openSidecar(sidecar, request), report };
  }
  if (isContainer) {
    const opened = await openRunContainer(context, request);
    return { sandbox: reportGaps(context, opened.sandbox), report: { used: true, network, ...opened.report } };
  }
  const support = await probeSandbox(ports.sandbox.program);
  try {
    if (!support.works) throw new SandboxError(support.reason);
    const sandbox = await openSandbox(support, {
      ...request,
      trustedArguments: launch.trustedArguments,
      requestedFiles: launch.requestedFiles,
      states: launcher.listStateFolders?.(launch.env) ?? [],
      folders: ports.sandbox,
    });
    return { sandbox: reportGaps(context, sandbox), report: { used: true, network } };
  } catch (error) {
    // A request must not lose its sandbox by a folder or network that it chooses.
    const isAvoidable = support.works && ports.sandbox.roots !== undefined;
    if (!(error instanceof SandboxError) || use === 'required' || isAvoidable) throw error;
    return { sandbox: undefined, report: { used: false, reason: error.reason } };
  }
}

function reportGaps(context: RunContext, sandbox: Sandbox): Sandbox {
  if (sandbox.gaps.length > 0) {
    const message = `The sandbox does not protect everything: ${sandbox.gaps.join('; ')}.`;
    warn(context, { code: 'SANDBOX_INCOMPLETE', message });
  }
  return sandbox;
}

const DENIAL_HINTS: Readonly<Record<DeniedHost['reason'], string>> = {
  'not listed': 'Add the host to "network" if the agent needs it.',
  'its address is private': 'Add the address itself to "network" if the agent needs it.',
  'unknown host': 'Check its name and the DNS settings of this host.',
};

function reportDenied({ findings, ports, id }: RunContext, { host, reason }: DeniedHost): void {
  const message = `The sandbox blocked the connection to ${host}: ${reason}. ${DENIAL_HINTS[reason]}`;
  const isNew = findings.addDiagnostic({ code: 'HOST_DENIED', message, severity: 'warning' });
  // An agent can repeat a request endlessly, and must not fill the log with it.
  if (isNew) ports.logger.warn('host denied', { run_id: id, host, reason });
}
