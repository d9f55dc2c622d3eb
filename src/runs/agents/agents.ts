import {
  type AgentSettings,
  checkEngines,
  listLaunchers,
  readVersion,
  type EngineReport,
  type ExamineOptions,
  type Launcher,
} from '../index.js';
import { omitUndefined } from '../../base/index.js';

/** An agent that needs no configuration: the entry that `sluice agents add` writes, and how to install the agent. */
export interface Preset {
  readonly agent: AgentSettings;
  /** How to install it. The last version in it is the tested one of the program in `agent`, if any. */
  readonly install: string;
  /** Whether it is installed by other means than npm, so its version is known only if it is started. */
  readonly isNative?: true;
  /** A remark for users: an account it needs, or a feature it lacks. */
  readonly note?: string;
}

/** Variables with which most agents choose their model. */
const MODELS = ['OPENAI_*', 'ANTHROPIC_*', 'GEMINI_*', 'GOOGLE_*', 'OPENROUTER_*'];

/**
 * Agents by engine name. A name is never that of a built-in engine. To add one, prove it with `sluice agents try`, and
 * add a case in `test/real`.
 */
export const PRESETS: Readonly<Record<string, Preset>> = {
  pi: {
    agent: { acp: ['pi-acp'], env: ['PI_*', ...MODELS], keeps: ['~/.pi'] },
    install: 'npm install --global @earendil-works/pi-coding-agent@0.87.1 pi-acp@0.0.34 (needs Node.js 22)',
    note: 'it never asks for permission: use a sandbox',
  },
  cline: {
    agent: { acp: ['cline', '--acp'], env: ['CLINE_*', ...MODELS], keeps: ['~/.cline'] },
    install: 'npm install --global cline@2.18.0',
  },
  cn: {
    agent: {
      command: ['cn', '--print', '{prompt}'],
      format: 'generic',
      env: ['CONTINUE_*', ...MODELS],
      keeps: ['~/.continue'],
    },
    install: 'npm install --global @continuedev/cli@1.5.47',
    note: 'it never asks for permission: use a sandbox',
  },
  'grok-cli': {
    agent: { command: ['grok', '--prompt', '{prompt}'], format: 'generic', env: ['GROK_*'], keeps: ['~/.grok'] },
    install: 'npm install --global @vibe-kit/grok-cli@0.0.34',
    note: 'it never asks for permission: use a sandbox',
  },
  letta: {
    agent: {
      command: ['letta', '--backend', 'local', '--prompt', '{prompt}'],
      format: 'generic',
      env: ['LETTA_*', ...MODELS],
      keeps: ['~/.letta'],
    },
    install: 'npm install --global @letta-ai/letta-code',
  },
  amp: {
    agent: {
      command: ['amp', '--execute', '--stream-json'],
      format: 'claude',
      env: ['AMP_*'],
      keeps: ['~/.config/amp', '~/.local/share/amp'],
    },
    install: 'npm install --global @ampcode/cli',
    note: 'it needs an account and its own server',
  },
  droid: {
    agent: { acp: ['droid', 'exec', '--output-format', 'acp'], env: ['FACTORY_*', 'DROID_*'], keeps: ['~/.factory'] },
    install: 'npm install --global droid',
    note: 'it needs an account',
  },
  kilo: {
    agent: {
      acp: ['kilo', 'acp'],
      env: ['KILO_*', ...MODELS],
      keeps: ['~/.config/kilo', '~/.local/share/kilo', '~/.local/state/kilo'],
    },
    install: 'npm install --global @kilocode/cli',
  },
  crush: {
    agent: {
      command: ['crush', 'run', '--quiet', '{prompt}'],
      format: 'generic',
      env: ['CRUSH_*', ...MODELS],
      keeps: ['~/.config/crush', '~/.local/share/crush'],
    },
    install: 'npm install --global @charmland/crush',
  },
  auggie: {
    agent: { acp: ['auggie', '--acp'], env: ['AUGMENT_*'], keeps: ['~/.augment'] },
    install: 'npm install --global @augmentcode/auggie',
    note: 'it needs an account',
  },
  qodercli: {
    agent: { acp: ['qodercli', '--acp'], env: ['QODER_*'], keeps: ['~/.qoder'] },
    install: 'npm install --global @qoder-ai/qodercli',
    note: 'it needs an account',
  },
  grok: {
    agent: { acp: ['grok', 'agent', 'stdio'], env: ['GROK_*', 'XAI_*'], keeps: ['~/.grok'] },
    install: 'npm install --global @xai-official/grok',
  },
  goose: {
    agent: {
      acp: ['goose', 'acp'],
      env: ['GOOSE_*', ...MODELS],
      keeps: ['~/.config/goose', '~/.local/share/goose', '~/.local/state/goose'],
    },
    install: 'see https://block.github.io/goose',
    isNative: true,
  },
  cursor: {
    agent: { acp: ['cursor-agent', 'acp'], env: ['CURSOR_*'], keeps: ['~/.cursor', '~/.config/cursor'] },
    install: 'see https://cursor.com/docs/cli',
    isNative: true,
    note: 'it needs an account',
  },
};

/** The version of a package is read from its manifest instead, without starting the agent. */
const PRINTS_VERSION = { versionCommand: ['--version'], readVersion } as const;

type Agents = Readonly<Record<string, AgentSettings>>;

/** Creates the launchers of presets that are not configured. Only for commands that a user types, not for servers. */
export function createPresetLaunchers(configured: Agents = {}): Launcher[] {
  return Object.entries(PRESETS).flatMap(([engine, { agent, install, isNative }]) => {
    const launcher = listLaunchers({ [engine]: agent })[engine];
    if (launcher === undefined || Object.hasOwn(configured, engine)) return [];
    return [{ ...launcher, installHint: install, ...(isNative === true ? PRINTS_VERSION : {}) }];
  });
}

export interface AgentReport extends Omit<EngineReport, 'engine' | 'next'> {
  readonly name: string;
  readonly source: 'built-in' | 'preset' | 'configured';
  readonly installed: boolean;
  /** `acp`: the Agent Client Protocol. `two-way`: its own protocol, in which it can ask for permission. */
  readonly modes: readonly ('acp' | 'one-way' | 'two-way')[];
  /** The engine that reads its output. */
  readonly format: string;
  readonly install: string;
  /** What to do about its status, or to know about the agent. */
  readonly note?: string;
}

/** Lists built-in, preset and configured agents with their status on this host. */
export async function listAgents(options: ExamineOptions): Promise<AgentReport[]> {
  const presets = createPresetLaunchers(options.agents);
  const launchers = listLaunchers(options.agents, presets);
  const reports = await checkEngines({ ...options, launchers: presets });
  return reports.flatMap(({ engine: name, next, ...report }) => {
    const launcher = launchers[name];
    if (launcher === undefined) return [];
    const isConfigured = Object.hasOwn(options.agents ?? {}, name);
    const preset = isConfigured ? undefined : PRESETS[name];
    const source = preset === undefined ? 'built-in' : 'preset';
    const { format, canAsk, installHint: install } = launcher;
    const oneWay = canAsk === true ? (['one-way', 'two-way'] as const) : (['one-way'] as const);
    return [
      {
        name,
        source: isConfigured ? 'configured' : source,
        ...report,
        installed: report.path !== undefined,
        modes: format === 'acp' ? ['acp'] : oneWay,
        format,
        install,
        ...omitUndefined({ note: report.status === 'missing' ? preset?.note : (next ?? preset?.note) }),
      },
    ];
  });
}
