import { Badge, chooseTone } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration } from '../../ui/time.js';
import type { InspectionOutcome } from './inspection.js';
import type { Suggestion } from './suggest-options.js';
import type { InspectionState } from './use-inspection.js';
import { setOptions } from './workbench-state.js';

const LEVELS = {
  none: 'unchanged',
  deterministic_generic: 'syntax repaired',
  schema_aligned: 'aligned to the schema',
} as const;

/** The outcome of parsing, in one line that is read out when it changes. */
export function OutcomeBar({ state }: { readonly state: InspectionState }) {
  const { reading, busy, schemaProblem } = state;
  return (
    <div class="outcome row" role="status" aria-busy={busy}>
      {reading === null ? (
        <span class="dim">{busy ? 'Parsing …' : 'Not parsed.'}</span>
      ) : reading.text === '' ? (
        <span class="dim">No text yet.</span>
      ) : (
        <Outcome outcome={reading.inspection.outcome} />
      )}
      {schemaProblem === null ? null : <Badge tone="warn">invalid schema: showing the previous result</Badge>}
      {reading === null ? null : <Suggestions suggestions={reading.suggestions} />}
      <span class="end dim" aria-hidden="true">
        {busy ? 'parsing …' : reading === null ? '' : formatDuration(reading.tookMs)}
      </span>
    </div>
  );
}

function Outcome({ outcome }: { readonly outcome: InspectionOutcome }) {
  switch (outcome.status) {
    case 'success':
      return (
        <>
          <Badge tone="good">success</Badge>
          <Badge tone={chooseTone(outcome.repairLevel)}>{outcome.repairLevel}</Badge>
          <span>{LEVELS[outcome.repairLevel]}</span>
        </>
      );
    case 'failed':
      return (
        <>
          <Badge tone="bad">failed</Badge>
          <Badge tone="bad">{outcome.code}</Badge>
          <span class="words clip">
            <SafeText text={outcome.message} limit={500} />
          </span>
        </>
      );
    case 'comment':
      return (
        <>
          <Badge tone="warn">comment</Badge>
          <span class="words">No &lt;json&gt; tag found: the whole text becomes a comment.</span>
        </>
      );
  }
}

/** Options that would give a value, as buttons that set them. */
function Suggestions({ suggestions }: { readonly suggestions: readonly Suggestion[] }) {
  if (suggestions.length === 0) return null;
  return (
    <span class="row suggestions" role="group" aria-label="Suggested options">
      <span class="dim">Would work with:</span>
      {suggestions.map(({ label, help, changes }) => (
        <button key={label} type="button" title={help} onClick={() => setOptions(changes)}>
          {label}
        </button>
      ))}
    </span>
  );
}
