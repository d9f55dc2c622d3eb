import type { ComponentChildren } from 'preact';
import type { Tone } from './notice.js';
import type { RepairLevel as RepairLevelName } from '../../src/json/index.js';
import { LEVEL_LABELS } from './json-labels.js';
import { t } from '../app/texts.js';

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

/** Chooses the tone for a state or an outcome; plain by default. */
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

/** Lists states as filter options. */
export function listStateOptions(states: readonly string[]): readonly { value: string; label: string }[] {
  return states.map((value) => ({ value, label: labelState(value) }));
}

/** A badge with a state's label and tone. */
export function StateBadge({ state, isLive = false }: Readonly<{ state: string; isLive?: boolean }>) {
  return (
    <Badge tone={chooseTone(state)} isLive={isLive}>
      {labelState(state)}
    </Badge>
  );
}

/** A repair level's label; the tooltip has its wire name. */
export function RepairLevel(props: Readonly<{ level: RepairLevelName; kinds?: readonly string[] }>) {
  const { level, kinds = [] } = props;
  if (level === 'none') return <span class="dim plain">{LEVEL_LABELS[level]}</span>;
  if (isOnlyExtracted(level, kinds)) return <Badge title={level}>{t.extracted}</Badge>;
  return (
    <Badge tone={chooseTone(level)} title={level}>
      {LEVEL_LABELS[level]}
    </Badge>
  );
}

/** Whether valid JSON was extracted from surrounding text without any change. */
export function isOnlyExtracted(level: RepairLevelName, kinds: readonly string[]): boolean {
  return level === 'deterministic_generic' && kinds.length > 0 && kinds.every((kind) => kind === 'extracted');
}
