import type { InboxItem } from '../../src/api/index.js';
import { toPath } from '../app/route.js';
import { Badge } from './badge.js';
import { SafeText } from './safe-text.js';

type Fact = NonNullable<InboxItem['evidence']>[number];

/** Describes a verdict; a mere report of the worker is distinguished from what Sluice could not check. */
function describeVerdict({ verdict, by }: Pick<Fact, 'verdict' | 'by'>) {
  switch (verdict) {
    case 'confirmed':
      return <Badge tone="good">verified</Badge>;
    case 'contradicted':
      return <Badge tone="bad">contradicted</Badge>;
    case 'unchecked':
      return by === 'worker' ? <Badge tone="warn">reported, not verified</Badge> : <Badge>not checked</Badge>;
  }
}

/** The evidence for a decision: each claim next to Sluice's finding. */
export function Verdicts({ evidence }: { readonly evidence: readonly Fact[] }) {
  return (
    <ul class="notes" aria-label="Verdicts">
      {evidence.map(({ claim, verdict, by, detail, run }, index) => (
        <li key={index}>
          <strong>{claim}</strong> {describeVerdict({ verdict, by })} <SafeText text={detail} />{' '}
          {run === undefined ? null : <a href={toPath({ page: 'run', id: run })}>open the run</a>}
        </li>
      ))}
    </ul>
  );
}
