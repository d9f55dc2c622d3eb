import type { ComponentChildren } from 'preact';
import { Badge } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import type { Inspection, Some, Span } from './inspection.js';
import { FINDER_WORDS, REPAIR_WORDS, STATE_WORDS } from './words.js';
import { chosen } from './workbench-state.js';

/** What was found, as lists: choosing an entry shows its place in the text. */
export function Findings({ inspection }: { readonly inspection: Inspection }) {
  const { candidates, repairs, notes, warnings } = inspection;
  const issues = notes.items.filter(({ kind }) => kind === 'issue');
  const changes = notes.items.filter(({ kind }) => kind === 'change');
  return (
    <div class="findings">
      <Found title="Candidates" of={candidates} none="Nothing in the text looks like JSON.">
        {candidates.items.map((candidate, index) => {
          const { finder, state, code, reason, start, end } = candidate;
          return (
            <Entry key={index} span={{ start, end }}>
              <span class={`candidate-mark ${state}`}>
                {index + 1} {finder}
              </span>{' '}
              <Badge tone={STATE_WORDS[state].tone}>{STATE_WORDS[state].word}</Badge> {FINDER_WORDS[finder]}
              <span class="dim why">
                {code === null ? '' : `${code}: `}
                <SafeText text={reason} limit={300} />
              </span>
            </Entry>
          );
        })}
      </Found>
      {issues.length === 0 ? null : (
        <Found title="What the schema refuses" of={{ items: issues, total: issues.length }} none="">
          {issues.map(({ place, message, span }, index) => (
            <Entry key={index} span={span}>
              <code>
                <SafeText text={place === '' ? 'the root' : place} limit={200} />
              </code>{' '}
              <SafeText text={message} limit={300} />
            </Entry>
          ))}
        </Found>
      )}
      {changes.length === 0 ? null : (
        <Found title="Alignment" of={{ items: changes, total: notes.total }} none="">
          {changes.map(({ place, message, span }, index) => (
            <Entry key={index} span={span}>
              <code>
                <SafeText text={place === '' ? 'the root' : place} limit={200} />
              </code>{' '}
              <SafeText text={message} limit={300} />
            </Entry>
          ))}
        </Found>
      )}
      {repairs.total === 0 ? null : (
        <Found title="Repairs" of={repairs} none="">
          {repairs.items.map(({ kind, offset }, index) => (
            <Entry key={index} span={{ start: offset, end: offset + 1 }}>
              <mark class="repair-mark">{index + 1}</mark> <code>{kind}</code> {REPAIR_WORDS[kind]}
            </Entry>
          ))}
        </Found>
      )}
      {warnings.length === 0 ? null : (
        <Found title="Warnings" of={{ items: warnings, total: warnings.length }} none="">
          {warnings.map(({ code, message, offset }, index) => (
            <Entry key={index} span={offset === undefined ? null : { start: offset, end: offset + 1 }}>
              <code>{code}</code> <SafeText text={message} limit={300} />
            </Entry>
          ))}
        </Found>
      )}
    </div>
  );
}

function Found({
  title,
  of,
  none,
  children,
}: {
  readonly title: string;
  readonly of: Some<unknown>;
  readonly none: string;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="found">
      <h3>
        {title} <span class="dim">{of.total.toLocaleString('en')}</span>
      </h3>
      {of.total === 0 ? <p class="dim">{none}</p> : <ol class="entries">{children}</ol>}
      {of.items.length < of.total ? <p class="dim">The first {of.items.length} are shown.</p> : null}
    </section>
  );
}

/** An entry that shows its place when it is chosen; without a place it is only read. */
function Entry({ span, children }: { readonly span: Span | null; readonly children: ComponentChildren }) {
  if (span === null) return <li class="entry">{children}</li>;
  const isChosen = chosen.value !== null && chosen.value.start === span.start && chosen.value.end === span.end;
  return (
    <li>
      <button
        type="button"
        class="entry"
        aria-pressed={isChosen}
        onClick={() => (chosen.value = isChosen ? null : span)}
      >
        {children}
      </button>
    </li>
  );
}
