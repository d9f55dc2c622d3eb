import { omitUndefined } from '../../base/index.js';
import { checkEngines, listLaunchers, readVersion } from '../index.js';
import type { AgentSettings, EngineReport, ExamineOptions, Launcher } from '../index.js';
import { PRESETS } from './presets.js';

/** The version of a package is read from its manifest instead, without starting the agent. */
const PRINTS_VERSION = { versionCommand: ['--version'], readVersion } as const;

type Agents = Readonly<Record<string, AgentSettings>>;

/**
 * Creates the launchers of all presets that the configuration does not replace. They are for commands that a user types:
 * a server starts only built-in and configured engines, because a request must not choose among installed programs.
 */
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
