import { dirname, join } from 'node:path';
import { AUDIT_FOLDER } from '../run-folder/index.js';
import { openSandbox, probeSandbox, SandboxError } from '../sandbox/index.js';
import type { DeniedHost, Sandbox } from '../sandbox/index.js';
import type { RunSandbox, RunSpec } from '../../store/records/index.js';
import { warn } from '../attempts/run-context.js';
import type { RunContext } from '../attempts/run-context.js';
import { isWithin } from '../../base/files/index.js';
import type { SandboxPort } from '../ports/run-ports.js';
import { createGitGuards, GUARDS_FOLDER } from '../workspace/git-guards.js';
import type { PreparedLaunch } from './prepare-launch.js';

/** A process's sandbox, if any, and its description for the result. */
export interface PreparedSandbox {
  readonly sandbox: Sandbox | undefined;
  /** Absent if no sandbox was requested. */
  readonly report: RunSandbox | undefined;
}

/** Prepares an attempt's sandbox. Throws `SandboxError` if a sandbox is required and cannot be created. */
export async function prepareSandbox(
  context: RunContext,
  workdir: string,
  launch: Pick<PreparedLaunch, 'command' | 'env' | 'trustedArguments'>,
): Promise<PreparedSandbox> {
  const { spec, ports, runDir, launcher } = context;
  const { hidden = [], configuration } = ports.sandbox;
  const use = chooseSandboxUse(spec.sandbox, ports.sandbox.use);
  if (use === 'off') return { sandbox: undefined, report: undefined };
  const { network = 'host' } = spec;
  try {
    const support = await probeSandbox(ports.sandbox.program);
    if (!support.works) throw new SandboxError(support.reason);
    const sandbox = await openSandbox(support, {
      command: launch.command,
      trustedArguments: launch.trustedArguments,
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
      states: launcher.listStateFolders?.(launch.env) ?? [],
      guards: createGitGuards(join(dirname(dirname(runDir)), GUARDS_FOLDER), context.id),
      network,
      folders: ports.sandbox,
      onDenied: (denied) => reportDenied(context, denied),
    });
    if (sandbox.gaps.length > 0) {
      const message = `The sandbox does not protect everything: ${sandbox.gaps.join('; ')}.`;
      warn(context, { code: 'SANDBOX_INCOMPLETE', message });
    }
    return { sandbox, report: { used: true, network } };
  } catch (error) {
    if (!(error instanceof SandboxError) || use === 'required') throw error;
    return { sandbox: undefined, report: { used: false, reason: error.reason } };
  }
}

function chooseSandboxUse(
  requested: RunSpec['sandbox'],
  configured: SandboxPort['use'],
): NonNullable<RunSpec['sandbox']> {
  return configured === 'required' ? 'required' : (requested ?? configured ?? 'auto');
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
