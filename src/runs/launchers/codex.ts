import { join } from 'node:path';
import { omitUndefined } from '../../base/index.js';
import { findCodexState } from './engine-state.js';
import { completeLauncher, type Launch, type LaunchRequest } from './launcher.js';
import { listCodexServerOptions, toTomlString } from './mcp-servers.js';
import {
  NETWORK_ENVIRONMENT,
  isConversation,
  listModelArguments,
  checkArgumentPrompt,
  checkInputPrompt,
  checkSession,
} from './request-checks.js';

/** Codex rejects longer prompts. */
const MAX_PROMPT_LENGTH = 1024 * 1024;

/** OpenAI Codex, `codex exec --json` or `codex app-server`. Its sandbox restricts commands in `workspace`. */
export const codexLauncher = completeLauncher({
  engine: 'codex',
  program: 'codex',
  format: 'codex',
  testedVersions: '>=0.166.0 <0.167.0',
  environment: ['OPENAI_*', 'CODEX_HOME', 'CODEX_API_KEY', ...NETWORK_ENVIRONMENT],
  canResume: true,
  canAsk: true,
  usesTerminal: true,
  accepts: { attachments: ['image'], mcpServers: ['stdio', 'http'] },
  listStateFolders: findCodexState,
  installHint: 'npm install --global @openai/codex@0.166.0',
  launch(request) {
    const session = checkSession(request.sessionId);
    const prompt = checkInputPrompt(request.prompt, MAX_PROMPT_LENGTH);
    const settings = [
      '--config=analytics.enabled=false',
      '--config=check_for_update_on_startup=false',
      ...listCodexServerOptions(request.mcpServers ?? []),
    ];
    const { attachments, permissions } = request;
    const prepared = permissions === 'workspace' ? prepareTemporaryFolder(request) : { env: {} };
    if (isConversation(request, 'codex')) {
      const permissionOptions = permissions === 'bypass' ? [] : listPermissionOptions(request);
      const converse = { speaks: 'app-server', prompt, thread: chooseThreadSettings(request) } as const;
      return {
        command: ['codex', 'app-server', ...settings, ...permissionOptions],
        ...prepared,
        converse: { ...converse, ...omitUndefined({ attachments }) },
      };
    }
    const options = [
      ...(session === undefined ? [] : ['resume']),
      '--json',
      '--skip-git-repo-check',
      ...settings,
      ...listPermissionOptions(request),
      ...listModelArguments(request.model),
    ];
    const resumed = session === undefined ? [] : [session];
    return request.terminal === true
      ? { command: ['codex', 'exec', ...options, '--', ...resumed, checkArgumentPrompt(prompt)], ...prepared }
      : { command: ['codex', 'exec', ...options, ...resumed, '-'], stdin: prompt, ...prepared };
  },
});

/**
 * With a writable sandbox, Codex permanently marks the folder as trusted and runs commands named in the repository's
 * settings, outside the sandbox. The same command therefore revokes the trust.
 */
function listPermissionOptions({ permissions, asks, workdir, runDir }: LaunchRequest): string[] {
  const guardOptions = [
    // With `ask`, the policy is set per thread, because Codex rejects it as a global setting.
    ...(asks === true ? [] : ['--config=approval_policy="never"']),
    `--config=projects={${toTomlString(workdir)}={trust_level="untrusted"}}`,
  ];
  switch (permissions) {
    case 'safe':
      return [...guardOptions, '--config=sandbox_mode="read-only"'];
    case 'workspace':
      return [
        ...guardOptions,
        '--config=sandbox_mode="workspace-write"',
        `--config=sandbox_workspace_write.writable_roots=[${toTomlString(runDir)}]`,
        '--config=sandbox_workspace_write.exclude_slash_tmp=true',
        '--config=sandbox_workspace_write.exclude_tmpdir_env_var=true',
      ];
    case 'bypass':
      return ['--dangerously-bypass-approvals-and-sandbox'];
  }
}

/**
 * Returns a thread's permissions, which would otherwise stay as they were when it was started. With `ask`, every
 * command not known to be read-only needs an approval; by default, the model would decide. Allowed commands run outside
 * Codex's sandbox, where they could not write.
 */
function chooseThreadSettings({ permissions, asks }: LaunchRequest): Readonly<Record<string, string>> {
  if (asks === true) return { approvalPolicy: 'untrusted', approvalsReviewer: 'user', sandbox: 'danger-full-access' };
  const sandbox = { safe: 'read-only', workspace: 'workspace-write', bypass: 'danger-full-access' }[permissions];
  return { approvalPolicy: 'never', approvalsReviewer: 'user', sandbox };
}

/** Commands need a folder for temporary files, since they cannot write to `/tmp`. */
function prepareTemporaryFolder({ runDir }: LaunchRequest): Pick<Launch, 'env' | 'files'> {
  const folder = join(runDir, 'tmp');
  const files = [{ path: join(folder, 'README.txt'), text: 'The agent’s temporary files.\n' }];
  return { env: { TMPDIR: folder }, files };
}
