import type { LaunchRequest, Launcher } from './launcher.js';
import { NETWORK_ENVIRONMENT } from './network-environment.js';
import { readVersion } from './read-version.js';
import { refuseProjectPrograms } from './opencode-folder.js';
import { modelArguments, promptForArgument, promptForInput, sessionToResume } from './request-checks.js';

/** What may be looked at. Files with secrets are closed, as OpenCode itself would ask about them. */
const READING = {
  read: { '*': 'allow', '*.env': 'deny', '*.env.*': 'deny', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
};

/** Each by name: a rule of the user for one tool would win over the `*` before it. */
const CLOSED = { '*': 'deny', bash: 'deny', task: 'deny', webfetch: 'deny', websearch: 'deny', skill: 'deny' };

/** OpenCode, `opencode run --format json`. It allows itself everything unless told otherwise. */
export const opencodeLauncher: Launcher = {
  engine: 'opencode',
  program: 'opencode',
  reads: 'opencode',
  drives: '>=1.18.33 <1.19.0',
  environment: [
    'OPENCODE_*',
    'XDG_*',
    'ANTHROPIC_*',
    'OPENAI_*',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'OPENROUTER_API_KEY',
    ...NETWORK_ENVIRONMENT,
  ],
  canResume: true,
  versionCommand: ['--version'],
  readVersion,
  installHint: 'npm install --global opencode-ai@1.18.33',
  async inspect({ permissions, workdir }) {
    if (permissions !== 'bypass') await refuseProjectPrograms(workdir);
  },
  launch(request) {
    const session = sessionToResume(request.sessionId);
    const options = [
      'run',
      '--format=json',
      ...(request.permissions === 'bypass' ? ['--auto'] : []),
      ...modelArguments(request.model),
      ...(session === undefined ? [] : [`--session=${session}`]),
    ];
    const env = {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_SHARE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      ...permissionEnvironment(request),
    };
    return request.terminal === true
      ? { command: ['opencode', ...options, '--', promptForArgument(request.prompt)], env }
      : { command: ['opencode', ...options], stdin: promptForInput(request.prompt), env };
  },
};

/** The folder's own settings are left out unless everything is allowed anyway. */
function permissionEnvironment({ permissions, runDir }: LaunchRequest): Record<string, string> {
  switch (permissions) {
    case 'safe':
      return guarded({ ...CLOSED, ...READING, edit: 'deny', external_directory: 'deny' });
    case 'workspace':
      return guarded({
        ...CLOSED,
        ...READING,
        edit: 'allow',
        todowrite: 'allow',
        external_directory: { '*': 'deny', [`${runDir}/*`]: 'allow' },
      });
    case 'bypass':
      return {};
  }
}

function guarded(rules: object): Record<string, string> {
  return { OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_PERMISSION: JSON.stringify(rules) };
}
