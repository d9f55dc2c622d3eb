import type { InboxItem, OrderView } from '../../../src/api/index.js';
import { Badge } from '../../ui/badge.js';
import { Facts } from '../../ui/facts.js';
import { Notes } from '../../ui/notes.js';
import type { NoteView } from '../../ui/notes.js';
import { SafeText } from '../../ui/safe-text.js';
import { Verdicts } from '../../ui/verdicts.js';
import { checkCommit, describeSource } from './reading-view.js';
import type { CommitCheck } from './reading-view.js';
import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { InlineFailure, Loading } from '../../ui/notice.js';

/** The evidence for a decision: the exit code, the commit, the verdicts, and the result that was read. */
export function Evidence({ item }: { readonly item: InboxItem }) {
  const { reading } = item;
  const { result, draft, anchors = {}, notices = [] } = reading;
  const hints = Object.entries(anchors).map(([name, value]) => `${name}: ${value}`);
  return (
    <section class="card stack">
      <h2>Evidence</h2>
      <Facts
        facts={{
          'Read from': <SafeText text={describeSource(reading)} />,
          'Exit code': item.exit_code === null ? 'None' : <ExitCode code={item.exit_code} />,
          Signal: item.signal ?? undefined,
          Commit: <Commit check={checkCommit(reading)} />,
          'Hints in the output': hints.length === 0 ? undefined : <SafeText text={hints.join('\n')} />,
        }}
      />
      {item.evidence === undefined || item.evidence.length === 0 ? null : <Verdicts evidence={item.evidence} />}
      <NoteSection title="Problems" notes={reading.problems} />
      <NoteSection title="Notices" notes={notices} />
      {result === undefined ? null : <JsonSection title="Result" value={result} />}
      {result === undefined && draft !== undefined ? (
        <JsonSection title="Repaired draft (fills in the form below; never accepted automatically)" value={draft} />
      ) : null}
    </section>
  );
}

function ExitCode({ code }: { readonly code: number }) {
  return code === 0 ? <>0</> : <Badge tone="bad">{code}</Badge>;
}

function Commit({ check }: { readonly check: CommitCheck }) {
  switch (check) {
    case 'none':
      return <span class="dim">None</span>;
    case 'found':
      return <Badge tone="good">Found in the repository</Badge>;
    case 'not found':
      return <Badge tone="bad">Not in the repository</Badge>;
    case 'not checked':
      return <Badge tone="warn">Not checked</Badge>;
  }
}

function NoteSection({ title, notes }: { readonly title: string; readonly notes: readonly NoteView[] }) {
  if (notes.length === 0) return null;
  return (
    <div>
      <h3>{title}</h3>
      <Notes notes={notes} />
    </div>
  );
}

function JsonSection({ title, value }: { readonly title: string; readonly value: unknown }) {
  return (
    <div>
      <h3>{title}</h3>
      <pre>
        <SafeText text={JSON.stringify(value, null, 2)} />
      </pre>
    </div>
  );
}

/** The order that the agent executed, needed to judge the result. */
export function OrderRequest({ issueRef, runId }: { readonly issueRef: string; readonly runId: string }) {
  const issue = useResource(`order ${issueRef} ${runId}`, async (signal) =>
    client.getIssue({ ref: issueRef, query: { run_id: runId }, signal }),
  );
  const order = issue.value?.orders.find(({ run_id }) => run_id === runId);
  const text = (name: keyof OrderView['order']) => {
    const value = order?.order[name];
    if (typeof value === 'string') return <SafeText text={value} />;
    return typeof value === 'object' && value.length > 0 ? <SafeText text={value.join('\n')} /> : undefined;
  };
  return (
    <details class="card">
      <summary>
        <strong>Work order</strong>
      </summary>
      {issue.value === null && issue.failure !== null ? (
        <InlineFailure failure={issue.failure} reload={issue.reload} />
      ) : issue.value === null ? (
        <Loading space="line" />
      ) : order === undefined ? (
        <p class="dim">The order no longer exists.</p>
      ) : (
        <Facts
          facts={{
            Wrapper: `${order.worker} (${order.worker_type})`,
            Role: text('role'),
            Repository: text('repo') ?? text('repo_dir'),
            Instructions: text('instructions'),
            Constraints: text('constraints'),
            Specification: text('spec_ref'),
            Contracts: text('contracts_ref'),
            'Depends on': text('depends_on'),
          }}
        />
      )}
    </details>
  );
}
