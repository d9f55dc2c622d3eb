import { useSignal } from '@preact/signals';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, ComponentChildren } from 'preact';
import { t } from '../app/texts.js';
import type { Failure, Resource } from '../data/resource.js';
import type { Profile, RepairLevel as RepairLevelName } from '../../src/json/index.js';
import { toPath } from '../app/route.js';
import { Timestamp } from './text.js';

/** A button that acts on this page; it does not submit a form. */
export function Button({ label, ...attributes }: ButtonHTMLAttributes & { readonly label: string | number }) {
  return (
    <button type="button" {...attributes}>
      {label}
    </button>
  );
}

export function Link({ label, ...attributes }: AnchorHTMLAttributes & { readonly label: string }) {
  return <a {...attributes}>{label}</a>;
}

/** A sentence of a catalogue with `code` and [links](/path), marked as in Markdown. It must not contain foreign text. */
export function Sentence({ text }: Readonly<{ text: string }>) {
  return (
    <>
      {text.split(/(`[^`]+`|\[[^\]]+\]\([^)]+\))/).map((part, index) => {
        const [, label, href] = /^\[(.+)\]\((.+)\)$/.exec(part) ?? [];
        if (label !== undefined) return <Link key={index} label={label} href={href} />;
        return part.startsWith('`') ? <code key={index}>{part.slice(1, -1)}</code> : part;
      })}
    </>
  );
}

const SHOW_MS = 1500;

export function CopyButton({ label, read }: Readonly<{ label: string; read: () => string | Promise<string> }>) {
  const outcome = useSignal<string | null>(null);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(await read());
      outcome.value = t.copied;
    } catch {
      outcome.value = t.copyFailed;
    }
    setTimeout(() => (outcome.value = null), SHOW_MS);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{outcome.value ?? label}</span>
    </button>
  );
}

export type Tone = 'plain' | 'good' | 'warn' | 'bad';

/** A message. Screen readers announce it immediately if its tone is `bad`. */
export function Notice(props: {
  readonly tone: Tone;
  readonly title: string;
  readonly action?: Readonly<{ label: string; run: () => unknown }>;
  readonly children?: ComponentChildren;
}) {
  const { tone, title, action, children } = props;
  return (
    <div class={`notice ${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      <strong>{title}</strong>
      {children === undefined ? null : <div>{children}</div>}
      {action === undefined ? null : <Button label={action.label} onClick={() => void action.run()} />}
    </div>
  );
}

/** Reports that something could not be loaded: the reason, its code, and a button to try again. */
export function FailureNotice(
  props: Readonly<{ title: string; failure: Failure; reload: () => void; children?: ComponentChildren }>,
) {
  const { title, failure, reload, children } = props;
  return (
    <Notice tone="bad" title={title} action={{ label: t.tryAgain, run: reload }}>
      {omitApiHint(failure.message)} <code>{failure.code}</code> {children}
    </Notice>
  );
}

export function PageNotLoaded() {
  return (
    <Notice tone="bad" title={t.thePageCouldNotBe} action={{ label: t.reload, run: () => location.reload() }}>
      {t.theServerMayHaveBeen}
    </Notice>
  );
}

/** Removes the endpoint hint from a server message: it is meant for API clients, and the page shows a link instead. */
export function omitApiHint(message: string): string {
  return message.replace(/ GET \/v1\/\S+ lists all [\w ]+\.$/, '');
}

export function ReadOnly({ scope, purpose }: Readonly<{ scope: string; purpose: string }>) {
  return (
    <Notice tone="plain" title={t.readOnlyThisTokenLacks(scope)}>
      {t.signInToPurpose(purpose)}
    </Notice>
  );
}

/** Shows a resource once it has arrived; until then, its loading or failure. Without a title, it needs little space. */
export function Loaded<Value>(props: {
  readonly resource: Resource<Value>;
  readonly title?: string;
  readonly space?: keyof typeof LOADING_CLASSES;
  readonly hint?: ComponentChildren;
  readonly children?: (value: Value) => ComponentChildren;
}) {
  const { title, space = title === undefined ? 'line' : 'page' } = props;
  const { value, failure, reload } = props.resource;
  if (value !== null) return <>{props.children?.(value)}</>;
  if (failure === null) return <Loading space={space} />;
  if (title === undefined) return <InlineFailure failure={failure} reload={reload} />;
  return (
    <FailureNotice title={title} failure={failure} reload={reload}>
      {props.hint}
    </FailureNotice>
  );
}

const LOADING_CLASSES = { page: 'loading', list: 'loading list-waiting', line: 'dim' };

/** A loading message that fills the space the content will need. */
export function Loading({ space = 'page' }: Readonly<{ space?: keyof typeof LOADING_CLASSES }>) {
  return (
    <p class={LOADING_CLASSES[space]} aria-busy="true">
      {t.loading}
    </p>
  );
}

/** Shows whether the content is up to date; old content stays while the server does not respond. */
export function UpToDate({ failure, live = '' }: Readonly<{ failure: Failure | null; live?: string }>) {
  return (
    <span class="dim" role="status">
      {failure === null ? (
        live
      ) : (
        <span class="away" title={failure.message}>
          {t.outOfDate(failure.code)}
        </span>
      )}
    </span>
  );
}

/** Why an action failed, next to its button; nothing if it did not. */
export function Refused({ why }: Readonly<{ why: string | null }>) {
  if (why === null) return null;
  return (
    <span class="wrong" role="alert">
      {why}
    </span>
  );
}

export function InlineFailure({ failure, reload }: Readonly<{ failure: Failure; reload: () => void }>) {
  return (
    <p class="wrong" role="alert">
      {failure.message} <Button label={t.tryAgain} class="link" onClick={reload} />
    </p>
  );
}

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
