import type { ComponentChildren } from 'preact';
import type { Tone } from './notice.js';
import type { Profile, RepairLevel as RepairLevelName } from '../../src/json/index.js';
import { t } from '../app/texts.js';
import { toPath } from '../app/route.js';
import { Timestamp } from './format.js';

/** A short label, such as a state. Its meaning is in the text; the colour and the dot only emphasize it. */
export function Badge(props: Readonly<{ tone?: Tone; isLive?: boolean; title?: string; children: ComponentChildren }>) {
  const { tone = 'plain', isLive = false, title, children } = props;
  return (
    <span class={`badge ${tone}${isLive ? ' live' : ''}`} title={title}>
      {children}
    </span>
  );
}

const TONES = new Map(
  Object.entries<Tone>({
    success: 'good',
    done: 'good',
    delivered: 'good',
    advance: 'good',
    waiting: 'warn',
    'needs-human': 'warn',
    failed: 'bad',
    dead: 'bad',
    blocked: 'bad',
  }),
);

export function chooseTone(state: string): Tone {
  return TONES.get(state) ?? 'plain';
}

/** Returns the label for a state, a decision, an outcome or a kind, identical on every page. */
export function labelState(state: string): string {
  const labels: Readonly<Record<string, string>> = t.states;
  if (Object.hasOwn(labels, state)) return labels[state] ?? state;
  // A newer server might send a state that this page does not know.
  const text = state.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function listStateOptions(states: readonly string[]): readonly { value: string; label: string }[] {
  return states.map((value) => ({ value, label: labelState(value) }));
}

/** A badge with a state's label and tone. A state that is over needs no one any more. */
export function StateBadge(props: Readonly<{ state: string; isLive?: boolean; isOver?: boolean }>) {
  const { state, isLive = false, isOver = false } = props;
  const tone = chooseTone(state);
  return (
    <Badge tone={isOver && tone === 'warn' ? 'plain' : tone} isLive={isLive}>
      {labelState(state)}
    </Badge>
  );
}

/** A repair level's label; the tooltip has its wire name. */
export function RepairLevel(props: Readonly<{ level: RepairLevelName; kinds?: readonly string[] }>) {
  const { level, kinds = [] } = props;
  if (level === 'none') return <span class="dim plain">{t.levels[level]}</span>;
  if (isOnlyExtracted(level, kinds)) return <Badge title={level}>{t.extracted}</Badge>;
  return (
    <Badge tone={chooseTone(level)} title={level}>
      {t.levels[level]}
    </Badge>
  );
}

/** Whether valid JSON was extracted from surrounding text without any change. */
export function isOnlyExtracted(level: RepairLevelName, kinds: readonly string[]): boolean {
  return level === 'deterministic_generic' && kinds.length > 0 && kinds.every((kind) => kind === 'extracted');
}

/** Why a queued run does not start. A newer server might send reasons that this page does not support. */
interface Waiting {
  readonly reason: string;
  /** The run that uses the folder; null if a process outside the store uses it. */
  readonly run?: string | null;
  readonly started_at?: string;
  /** `day`, or `caller NAME`. */
  readonly budget?: string;
  readonly opens_at?: string;
}

/** Explains in one line why a queued run does not start. */
export function WaitingFor({ waiting }: Readonly<{ waiting: Waiting | null }>) {
  if (waiting === null) return null;
  const { run = null, started_at: startedAt, opens_at: opensAt } = waiting;
  return (
    <span class="waiting-for">
      {describeReason(waiting)}
      {run === null ? null : (
        <>
          {t.inUseBy} <a href={toPath({ page: 'run', id: run })}>{run}</a>
          {startedAt === undefined ? null : (
            <>
              {' '}
              ({t.startedAt} <Timestamp at={startedAt} />)
            </>
          )}
        </>
      )}
      {opensAt === undefined ? null : (
        <>
          {t.whichResetsAt} <Timestamp at={opensAt} />
        </>
      )}
    </span>
  );
}

export function describeReason({ reason, budget = 'day' }: Waiting): string {
  if (reason === 'folder') return t.waitingForItsFolder;
  return reason === 'budget' ? t.waitingForThe(describeBudget(budget)) : t.waitingFor(reason);
}

export function describeBudget(name: string): string {
  const caller = /^caller (.*)$/su.exec(name)?.[1];
  if (caller !== undefined) return t.budgetOfToken(caller);
  return name === 'day' ? t.dailyBudget : t.budgetOf(name);
}

/** Describes a repair by its kind; undefined for an unknown kind. `docs/errors.md` has more details. */
export function describeRepair(kind: string): string | undefined {
  const descriptions: Readonly<Record<string, string>> = t.repairKinds;
  return Object.hasOwn(descriptions, kind) ? descriptions[kind] : undefined;
}

export function isProfile(name: string): name is Profile {
  return Object.hasOwn(t.profiles, name);
}
