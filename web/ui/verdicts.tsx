import type { InboxItem } from '../../src/api/index.js';
import { toPath } from '../app/route.js';
import { Badge } from './badge.js';
import { SafeText } from './safe-text.js';

type Fact = NonNullable<InboxItem['evidence']>[number];

const CLAIMS: Readonly<Record<Fact['claim'], string>> = {
  commit: 'Commit',
  pr: 'Pull request',
  tests: 'Tests',
  paths: 'Paths',
  result: 'Result',
};

/** Renders a verdict. Distinguishes a claim made only by the agent from a claim that Sluice could not check. */
function renderVerdict({ verdict, by }: Pick<Fact, 'verdict' | 'by'>) {
  switch (verdict) {
    case 'confirmed':
      return <Badge tone="good">Verified</Badge>;
    case 'contradicted':
      return <Badge tone="bad">Contradicted</Badge>;
    case 'unchecked':
      return by === 'worker' ? <Badge tone="warn">Reported, not verified</Badge> : <Badge>Not checked</Badge>;
  }
}

/** The evidence for a decision: each claim with its verdict. */
export function Verdicts({ evidence }: { readonly evidence: readonly Fact[] }) {
  return (
    <ul class="notes" aria-label="Verdicts">
      {evidence.map(({ claim, verdict, by, detail, run }, index) => (
        <li key={index}>
          <strong>{CLAIMS[claim]}</strong> {renderVerdict({ verdict, by })} <SafeText text={detail} />{' '}
          {run === undefined ? null : <a href={toPath({ page: 'run', id: run })}>Open the run</a>}
        </li>
      ))}
    </ul>
  );
}
