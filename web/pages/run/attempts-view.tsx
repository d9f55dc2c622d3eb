import { SafeText } from '../../ui/safe-text.js';
import { formatDuration } from '../../ui/time.js';
import { formatUsage } from '../../ui/amount.js';
import { summarizeAttempts } from './attempts.js';
import type { AttemptSummary } from './attempts.js';
import type { OpenRun } from './open-run.js';

/** A run's attempts side by side, each with its outcome, actions and messages. */
export function AttemptsView({ run }: { readonly run: OpenRun }) {
  void run.redraws.page.value;
  const attempts = summarizeAttempts(run.data.conversation);
  const rows: readonly (readonly [string, (attempt: AttemptSummary) => string])[] = [
    ['Outcome', ({ end }) => end ?? 'Running'],
    ['Duration', ({ from, to }) => formatDuration(to - from)],
    ['Messages', ({ messages }) => String(messages)],
    ['Tools', ({ tools, failedTools }) => (failedTools === 0 ? String(tools) : `${tools}, ${failedTools} failed`)],
    ['Usage', ({ usage }) => formatUsage(usage)],
    ['Answer before the attempt', ({ reply }) => reply ?? ''],
    ['Last message', ({ lastText }) => lastText ?? ''],
  ];
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Attempts side by side">
      <table class="attempts">
        <thead>
          <tr>
            <td />
            {attempts.map(({ attempt }) => (
              <th key={attempt} scope="col">
                Attempt {attempt}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([label, read]) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {attempts.map((attempt) => (
                <td key={attempt.attempt}>
                  <SafeText text={read(attempt)} limit={1500} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
