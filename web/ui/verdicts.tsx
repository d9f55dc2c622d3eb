import type { InboxItem } from '../../src/api/index.js';
import { toPath } from '../app/route.js';
import { Badge } from './badge.js';
import { SafeText } from './safe-text.js';

const SHOWN = {
  confirmed: { tone: 'good', word: 'verified' },
  contradicted: { tone: 'bad', word: 'contradicted' },
  unchecked: { tone: 'warn', word: 'reported, not verified' },
} as const;

/** What a decision is based on: each claim beside what Sluice found. */
export function Verdicts({ evidence }: { readonly evidence: NonNullable<InboxItem['evidence']> }) {
  return (
    <ul class="notes" aria-label="Verdicts">
      {evidence.map(({ claim, verdict, detail, run }, index) => (
        <li key={index}>
          <strong>{claim}</strong> <Badge tone={SHOWN[verdict].tone}>{SHOWN[verdict].word}</Badge>{' '}
          <SafeText text={detail} />{' '}
          {run === undefined ? null : <a href={toPath({ page: 'run', id: run })}>open the run</a>}
        </li>
      ))}
    </ul>
  );
}
