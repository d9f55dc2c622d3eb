import type { OutboxMessage } from '../../../src/api/index.js';
import type { SinkState } from '../../../src/records/index.js';
import { Badge, labelState } from '../../ui/badge.js';
import type { Tone } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { Timestamp } from '../../ui/time.js';
import { summarizeSinks } from './sink-health.js';
import type { SinkHealth } from './sink-health.js';
import './outbox.css';

const TONES: Readonly<Record<SinkHealth['state'], Tone>> = {
  ok: 'good',
  waiting: 'plain',
  failing: 'warn',
  broken: 'bad',
};

/** A list of the sinks, each with its state and its last delivery or error. */
export function SinkHealthRow({
  messages,
  sinks,
}: {
  readonly messages: readonly OutboxMessage[];
  readonly sinks: readonly SinkState[];
}) {
  return (
    <ul class="sinks" aria-label="Sinks">
      {summarizeSinks(messages, sinks).map(({ name, state, last, undelivered, error }) => (
        <li key={name} class="card">
          <span class="row">
            <strong>
              <SafeText text={name} limit={60} />
            </strong>
            <Badge tone={TONES[state]}>{labelState(state)}</Badge>
            {undelivered === 0 ? null : <span class="dim end">{undelivered} not delivered</span>}
          </span>
          <span class="dim small one-line">
            {error !== null ? (
              <SafeText text={error} limit={200} />
            ) : last === null ? (
              'No comment delivered yet'
            ) : (
              <>
                Last comment delivered <Timestamp at={last.at} />
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
