import { Badge } from '../../ui/badge.js';
import { RepairLevel } from '../../ui/repair-level.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatDuration } from '../../ui/time.js';
import type { Inspection } from './inspection.js';
import type { Suggestion } from './suggest-options.js';
import type { InspectionState } from './use-inspection.js';
import { setOptions } from './workbench-state.js';

/** The parse outcome in one line, announced to screen readers when it changes. */
export function OutcomeBar({ state }: { readonly state: InspectionState }) {
  const { reading, busy, schemaProblem } = state;
  return (
    <div class="outcome row" role="status" aria-busy={busy}>
      {reading === null ? (
        <span class="dim">{busy ? 'Parsing …' : 'Not parsed.'}</span>
      ) : reading.text === '' ? (
        <span class="dim">No output yet.</span>
      ) : (
        <Outcome inspection={reading.inspection} />
      )}
      {schemaProblem === null ? null : <Badge tone="warn">Invalid schema: showing the previous result</Badge>}
      {reading === null ? null : <Suggestions suggestions={reading.suggestions} />}
      <span class="end dim" aria-hidden="true">
        {busy ? 'Parsing …' : reading === null ? '' : formatDuration(reading.tookMs)}
      </span>
    </div>
  );
}

function Outcome({ inspection: { outcome, repairs } }: { readonly inspection: Inspection }) {
  switch (outcome.status) {
    case 'success':
      return (
        <>
          <Badge tone="good">Success</Badge>
          <RepairLevel level={outcome.repairLevel} kinds={repairs.items.map(({ kind }) => kind)} />
        </>
      );
    case 'failed':
      return (
        <>
          <Badge tone="bad">Failed</Badge>
          <Badge tone="bad">{outcome.code}</Badge>
          <span class="words clip">
            <SafeText text={outcome.message} limit={500} />
          </span>
        </>
      );
    case 'comment':
      return (
        <>
          <Badge tone="warn">Comment</Badge>
          <span class="words">No &lt;json&gt; tag found: the whole output becomes a comment.</span>
        </>
      );
  }
}

/** Buttons that set options that would lead to a value. */
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
