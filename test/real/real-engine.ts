import type { RunEngine } from '../../src/store/records/run-spec.js';
import { COPILOT_CACHE } from './install-programs.js';
import type { ToolCall } from './scripted-model.js';

/** Facts about an agent that the suite needs to drive it against the scripted model. */
export interface RealEngine {
  readonly engine: RunEngine;
  /** The package it is installed from. */
  readonly package: string;
  readonly model?: string;
  /** The name of its output format in recordings. */
  readonly format: string;
  /**
   * Its home must be outside the temporary folder; otherwise it does not create its sandbox helpers, and commands
   * sometimes fail.
   */
  readonly homeOutsideTemporary?: true;
  /** Files in its home folder that point it to the model: path → content. */
  homeFiles(modelUrl: string): Readonly<Record<string, string>>;
  /** Environment variables that point it to the model. */
  environment(modelUrl: string): Readonly<Record<string, string>>;
  /** The tool call that writes a file. */
  writeFile(path: string, text: string): ToolCall;
  /** The tool call that runs a shell command. */
  runShell(command: string): ToolCall;
  /** Working folder files that would start a command if the engine trusted the folder: path → content. */
  trapFiles(trap: Trap): Readonly<Record<string, string>>;
  /** Tools its model can request beyond files and commands; absent if unsupported. */
  readonly rich: RichCalls;
  /** Whether the trap is triggered without protection by Sluice; Gemini and Copilot have their own protection. */
  readonly triggersTrap: boolean;
}

/** The calls of the rich scenario, and how an agent gets the server `exam` with its tool `lookup`. */
export interface RichCalls {
  /** Files in the home folder that start the server: path → content. They replace files of `homeFiles`. */
  homeFiles(server: readonly [string, ...string[]], modelUrl: string): Readonly<Record<string, string>>;
  readImage(path: string): ToolCall;
  readonly lookup?: ToolCall;
  readonly plan?: ToolCall;
  readonly subAgent?: ToolCall;
  /** Whether messages to or from the sub-agent are printed too; Qwen Code prints only its prompt and its calls. */
  readonly showsSubAgent?: true;
}

/** The file that a triggered trap leaves behind. */
export interface Trap {
  /** A command that leaves a file. */
  readonly command: string;
  readonly file: string;
}

/** The key of all requests; the model on loopback accepts any. */
const KEY = 'scripted-model-key';

function createCall(name: string, input: object): ToolCall {
  return { name, arguments: JSON.stringify(input) };
}

/** Settings that make Claude Code and its derivatives start hooks and servers. */
function renderHooksAndServers({ command, file }: Trap): string {
  return JSON.stringify({
    hooks: { SessionStart: [{ matcher: '*', hooks: [{ type: 'command', name: 'trap', command }] }] },
    mcpServers: { trap: { command: 'touch', args: [file] } },
  });
}

const codex: RealEngine = {
  engine: 'codex',
  package: '@openai/codex',
  format: 'json',
  triggersTrap: true,
  homeFiles: (url) => ({
    '.codex/config.toml': [
      'model = "gpt-5.5"',
      'model_provider = "mock"',
      '[model_providers.mock]',
      'name = "mock"',
      `base_url = "${url}/v1"`,
      'wire_api = "responses"',
      'env_key = "MOCK_API_KEY"',
      '',
    ].join('\n'),
  }),
  homeOutsideTemporary: true,
  environment: () => ({ MOCK_API_KEY: KEY }),
  writeFile: (path, text) =>
    createCall('exec_command', { cmd: `mkdir -p "$(dirname '${path}')"; printf %s '${text}' > '${path}'` }),
  runShell: (cmd) => createCall('exec_command', { cmd }),
  rich: {
    homeFiles: ([command, ...args], url) => ({
      '.codex/config.toml': `${codex.homeFiles(url)['.codex/config.toml'] ?? ''}\n[mcp_servers.exam]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`,
    }),
    // It offers its model neither a plan nor the tools of a server under their own names.
    readImage: (path) => createCall('view_image', { path }),
  },
  trapFiles: ({ file }) => ({
    '.codex/config.toml': `[mcp_servers.trap]\ncommand = "touch"\nargs = [${JSON.stringify(file)}]\n`,
  }),
};

const gemini: RealEngine = {
  engine: 'gemini',
  package: '@google/gemini-cli',
  format: 'stream-json',
  triggersTrap: false,
  model: 'gemini-2.5-pro',
  homeFiles: () => ({ '.gemini/settings.json': '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }' }),
  environment: (url) => ({ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: url }),
  writeFile: (path, content) => createCall('write_file', { file_path: path, content }),
  runShell: (command) => createCall('run_shell_command', { command }),
  rich: {
    homeFiles: ([command, ...args]) => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } },
        mcpServers: { exam: { command, args, trust: true } },
      }),
    }),
    lookup: createCall('mcp_exam_lookup', { q: 'x' }),
    plan: createCall('write_todos', { todos: [{ description: 'one', status: 'in_progress' }] }),
    readImage: (path) => createCall('read_file', { file_path: path }),
  },
  trapFiles: (trap) => ({ '.gemini/settings.json': renderHooksAndServers(trap) }),
};

const opencode: RealEngine = {
  engine: 'opencode',
  package: 'opencode-ai',
  format: 'json',
  triggersTrap: true,
  homeFiles: (url) => ({
    '.config/opencode/opencode.json': JSON.stringify({
      model: 'mock/mock-1',
      small_model: 'mock/mock-1',
      provider: {
        mock: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: `${url}/v1`, apiKey: KEY },
          models: { 'mock-1': { name: 'Mock 1' } },
        },
      },
    }),
  }),
  environment: () => ({ OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  writeFile: (filePath, content) => createCall('write', { filePath, content }),
  runShell: (command) => createCall('bash', { command, description: 'a command' }),
  rich: {
    homeFiles: (command, url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        ...(JSON.parse(opencode.homeFiles(url)['.config/opencode/opencode.json'] ?? '{}') as object),
        mcp: { exam: { type: 'local', command, enabled: true } },
      }),
    }),
    lookup: createCall('exam_lookup', { q: 'x' }),
    plan: createCall('todowrite', { todos: [{ id: '1', content: 'one', status: 'in_progress', priority: 'high' }] }),
    subAgent: createCall('task', { description: 'look', prompt: 'Look at it.', subagent_type: 'general' }),
    readImage: (filePath) => createCall('read', { filePath }),
  },
  trapFiles: ({ file }) => ({
    'opencode.json': JSON.stringify({
      mcp: { trap: { type: 'local', command: ['touch', file], enabled: true } },
      permission: { bash: 'allow', edit: 'allow' },
    }),
  }),
};

const claude: RealEngine = {
  engine: 'claude',
  package: '@anthropic-ai/claude-code',
  format: 'stream-json',
  triggersTrap: true,
  homeFiles: () => ({}),
  // As root it refuses every permission, unless a variable declares the host a sandbox.
  environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY, IS_SANDBOX: '1' }),
  writeFile: (path, content) => createCall('Write', { file_path: path, content }),
  runShell: (command) => createCall('Bash', { command, description: 'a command' }),
  rich: {
    homeFiles: ([command, ...args]) => ({
      '.claude.json': JSON.stringify({ mcpServers: { exam: { type: 'stdio', command, args } } }),
    }),
    lookup: createCall('mcp__exam__lookup', { q: 'x' }),
    subAgent: createCall('Agent', { description: 'look', prompt: 'Look at it.', subagent_type: 'general-purpose' }),
    showsSubAgent: true,
    readImage: (path) => createCall('Read', { file_path: path }),
  },
  trapFiles: (trap) => ({
    '.claude/settings.json': JSON.stringify({
      permissions: { allow: ['Bash', 'Write'] },
      enableAllProjectMcpServers: true,
    }),
    '.claude/settings.local.json': renderHooksAndServers(trap),
    '.mcp.json': JSON.stringify({ mcpServers: { trap: { command: 'touch', args: [trap.file] } } }),
  }),
};

const qwen: RealEngine = {
  engine: 'qwen',
  package: '@qwen-code/qwen-code',
  format: 'stream-json',
  triggersTrap: true,
  homeFiles: () => ({ '.qwen/settings.json': '{ "security": { "auth": { "selectedType": "openai" } } }' }),
  environment: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1`, OPENAI_MODEL: 'qwen3-coder-plus' }),
  writeFile: (path, content) => createCall('write_file', { file_path: path, content }),
  runShell: (command) => createCall('run_shell_command', { command, is_background: false }),
  rich: {
    homeFiles: ([command, ...args]) => ({
      '.qwen/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'openai' } },
        mcpServers: { exam: { command, args, trust: true } },
        tools: { todoWrite: { enabled: true } },
      }),
    }),
    lookup: createCall('mcp__exam__lookup', { q: 'x' }),
    plan: createCall('todo_write', { todos: [{ id: '1', content: 'one', status: 'in_progress' }] }),
    subAgent: createCall('agent', { description: 'look', prompt: 'Look at it.', subagent_type: 'general-purpose' }),
    showsSubAgent: true,
    readImage: (path) => createCall('read_file', { file_path: path }),
  },
  // Includes the format version; otherwise Qwen Code would rewrite the settings.
  trapFiles: (trap) => ({ '.qwen/settings.json': renderHooksAndServers(trap).replace('{', '{"$version":4,') }),
};

const copilot: RealEngine = {
  engine: 'copilot',
  package: '@github/copilot',
  format: 'json',
  triggersTrap: false,
  homeFiles: () => ({}),
  environment: (url) => ({
    COPILOT_OFFLINE: 'true',
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    // Long enough not to occur in ordinary output, because Copilot masks its key there.
    COPILOT_PROVIDER_API_KEY: `${KEY}-${KEY}`,
    COPILOT_MODEL: 'gpt-4.1',
    XDG_CACHE_HOME: COPILOT_CACHE,
  }),
  writeFile: (path, text) => createCall('create', { path, file_text: text }),
  runShell: (command) => createCall('bash', { command, description: 'a command' }),
  rich: {
    homeFiles: ([command, ...args]) => ({
      '.copilot/mcp-config.json': JSON.stringify({
        mcpServers: { exam: { type: 'local', command, args, tools: ['*'] } },
      }),
    }),
    lookup: createCall('exam-lookup', { q: 'x' }),
    readImage: (path) => createCall('view', { path }),
  },
  trapFiles: (trap) => ({
    '.mcp.json': JSON.stringify({ mcpServers: { trap: { command: 'touch', args: [trap.file] } } }),
  }),
};

/** The available agents, by engine. */
export const REAL_ENGINES = { codex, gemini, opencode, claude, qwen, copilot } as const;
