import type { RunView } from '../../../src/server/api/index.js';
import { client } from '../../data/client.js';
import { useResource, type Resource } from '../../data/resource.js';
import { Badge } from '../../ui/badge.js';
import { SafeText } from '../../ui/safe-text.js';
import { AnsiText } from '../../ui/ansi-text.js';
import { describeMissingFiles } from '../../ui/run-files.js';
import { describeItem, type ItemView } from './conversation.js';
import type { OpenRun } from './open-run.js';
import { findLastStderr } from './raw-rows.js';

/** The number of bytes shown from the end of stderr, which usually contains the reason for a failure. */
const STDERR_BYTES = 4000;
/** The number of trailing items searched for a failed tool. */
const MAX_SEARCHED_ITEMS = 500;

/** Explains why a run failed: the cause, what to do, the last failed tool and the end of stderr. */
export function FailureCard(props: Readonly<{ run: OpenRun; view: RunView; stderr: Resource<string> }>) {
  const { run, view, stderr } = props;
  const error = view.result?.error;
  if (view.result?.status !== 'failed' || error === undefined) return null;
  return (
    <section class="card failure" aria-label="Failure">
      <p class="failure-cause">
        <Badge tone="bad">{error.code}</Badge> <SafeText text={error.message} limit={1000} />
      </p>
      <p>
        <strong>What to do:</strong> {chooseAdvice(error, view.spec.max_retries ?? 0)}
      </p>
      <div class="failure-facts">
        <FailedTool run={run} />
        <LastStderr stderr={stderr} />
      </div>
    </section>
  );
}

/** Returns advice on a failure: by cause or code if more specific, otherwise by category. */
export function chooseAdvice({ cause = 'unknown', code, category }: RunError, retries = 0): string {
  if (code === 'OUTPUT_NOT_VALIDATED' && retries > 0) return RETRIES_USED_UP;
  return BY_CAUSE[cause] ?? BY_CODE[code] ?? BY_CATEGORY[category];
}

type RunError = NonNullable<NonNullable<RunView['result']>['error']>;

const BY_CAUSE: Readonly<Record<NonNullable<RunError['cause']>, string | null>> = {
  auth: 'Sign in to the engine on the server, or pass its key as an environment variable, then run again.',
  rate_limit: 'Wait until the provider’s rate limit resets, then run again.',
  quota: 'The provider account has no quota left. Add quota, or choose another model with Edit and run.',
  model: 'The model refused the request. Choose another model with Edit and run.',
  server: 'The model’s service failed. Run again later, or choose another model with Edit and run.',
  context: 'The request was too long for the model. Shorten the prompt, or choose another model with Edit and run.',
  network: 'Check the server’s network, then run again.',
  permission: 'Allow more permissions with Edit and run, or change the task.',
  unknown: null,
};

const RETRIES_USED_UP =
  'All retries were used. Compare the answers under Attempts, then correct the prompt or relax the schema with Edit and run.';

const BY_CODE: Readonly<Record<string, string>> = {
  OUTPUT_NOT_VALIDATED:
    'Compare the answer with the schema under Result. Then correct the prompt, relax the schema, or allow retries with Edit and run.',
  PROCESS_NOT_STARTED:
    'Install the engine on the server, or set its path in the configuration. The command sluice doctor checks it.',
  PROCESS_SIGNALED: 'Check what stopped the process; a memory limit is the usual cause. Then run again.',
  RUN_TIMED_OUT: 'Raise the time limit with Edit and run, or make the task smaller.',
  SANDBOX_UNAVAILABLE: 'Install bubblewrap on the server, or use Edit and run to allow the run without a sandbox.',
  WORKER_GONE: 'Find out on that host why the worker exited; the Workers page lists live workers. Then run again.',
  SESSION_LOST: 'Start a new run whose prompt contains the question and its answer.',
};

const BY_CATEGORY: Readonly<Record<RunError['category'], string>> = {
  canceled: 'Run again if it was canceled by mistake.',
  output:
    'Compare the answer with the contract under Result, then correct the prompt or the contract with Edit and run.',
  limit: 'Raise the limit named in the message with Edit and run, or make the task smaller.',
  timeout: 'Raise the time limit with Edit and run, or make the task smaller.',
  process: 'Read the end of stderr. If the problem is temporary, run again.',
  engine: 'Read the engine’s message. If the problem is temporary, run again.',
};

/** The last failed tool call. The line is always shown, because events arrive after the page was drawn. */
function FailedTool({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const tool = findFailedTool(run.data.conversation);
  return (
    <p class="failure-tool one-line">
      <strong>Last failed tool:</strong>{' '}
      {tool === null ? (
        <span class="dim">None</span>
      ) : (
        <button
          type="button"
          class="link"
          onClick={() => (run.selection.value = { pane: 'conversation', seq: tool.seq })}
        >
          <SafeText text={`${tool.name}: ${tool.error ?? 'Failed'}`.slice(0, 200)} />
        </button>
      )}
    </p>
  );
}

/** Searches the end of a conversation for a failed tool call. */
export function findFailedTool(
  conversation: OpenRun['data']['conversation'],
): Extract<ItemView, { kind: 'tool' }> | null {
  const { items, events } = conversation;
  const firstIndex = Math.max(0, items.length - MAX_SEARCHED_ITEMS);
  for (let index = items.length - 1; index >= firstIndex; index -= 1) {
    const item = items[index];
    if (item?.type !== 'assistant.tool_call') continue;
    const view = describeItem(conversation, item, events.length);
    if (view?.kind === 'tool' && view.status === 'failed') return view;
  }
  return null;
}

/** Loads the end of a run's stderr; null loads nothing. Unavailable files are an error, an empty stderr is not. */
export function useLastStderr(id: string | null): Resource<string> {
  return useResource(`stderr ${id ?? ''}`, async (signal) => {
    if (id === null) return '';
    const files = await client.listRunFiles({ id, signal });
    if (files.source === null) throw new Error(describeMissingFiles(files));
    const file = findLastStderr(files.evidence);
    if (file === null) return '';
    const from = Math.max(0, file.size - STDERR_BYTES);
    const { text } = await client.readEvidence({ id, name: file.name, from, signal });
    // The first line is dropped, because it can start in the middle of a character.
    return (from === 0 ? text : text.slice(text.indexOf('\n') + 1)).trimEnd();
  });
}

function LastStderr({ stderr: { value, failure } }: { readonly stderr: Resource<string> }) {
  if (value === null || value === '') {
    return (
      <p>
        <strong>End of stderr:</strong>{' '}
        <span class="dim">{failure?.message ?? (value === null ? 'Loading …' : 'Empty')}</span>
      </p>
    );
  }
  return (
    <details open>
      <summary>End of stderr</summary>
      <pre class="failure-stderr" tabIndex={0} aria-label="End of stderr">
        <AnsiText text={value} limit={STDERR_BYTES} />
      </pre>
    </details>
  );
}
