import { Badge, toneOf } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { lengthOf } from '../../ui/time.js';
import type { InspectionOutcome } from './inspection.js';
import type { InspectionState } from './use-inspection.js';

const LEVELS = {
  none: 'as it was written',
  deterministic_generic: 'syntax repaired',
  schema_aligned: 'aligned to the schema',
} as const;

/** How the reading ended, in one line that is read out when it changes. */
export function OutcomeBar({ state }: { readonly state: InspectionState }) {
  const { reading, busy, schemaProblem } = state;
  return (
    <div class="outcome row" role="status" aria-busy={busy}>
      {reading === null ? (
        <span class="dim">{busy ? 'Reading …' : 'Not read.'}</span>
      ) : reading.text === '' ? (
        <span class="dim">There is no text yet.</span>
      ) : (
        <Outcome outcome={reading.inspection.outcome} />
      )}
      {schemaProblem === null ? null : <Badge tone="warn">the schema cannot be used: this is the reading before</Badge>}
      <span class="end dim" aria-hidden="true">
        {busy ? 'reading …' : reading === null ? '' : lengthOf(reading.tookMs)}
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
          <Badge tone={toneOf(outcome.repairLevel)}>{outcome.repairLevel}</Badge>
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
          <span class="words">There is no &lt;json&gt; tag: the text is handed on for a person to read.</span>
        </>
      );
  }
}
