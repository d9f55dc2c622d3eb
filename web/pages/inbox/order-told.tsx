import { client } from '../../server/client.js';
import { useResource } from '../../server/use-resource.js';
import { Facts } from '../../ui/facts.js';
import { SafeText } from '../../ui/safe-text.js';
import { NotRead } from './not-read.js';

/** What the worker was asked to do: without it a result cannot be judged. */
export function OrderTold({ issueRef, runId }: { readonly issueRef: string; readonly runId: string }) {
  const issue = useResource(`issue ${issueRef}`, async (signal) => client.getIssue({ ref: issueRef, signal }));
  const order = issue.value?.orders.find((one) => one.run_id === runId);
  const text = (name: string) => {
    const value = order?.order[name];
    if (typeof value === 'string') return <SafeText text={value} />;
    return Array.isArray(value) && value.length > 0 ? <SafeText text={value.map(String).join('\n')} /> : undefined;
  };
  return (
    <details class="card">
      <summary>
        <strong>What the worker was asked</strong>
      </summary>
      {issue.value === null && issue.failure !== null ? (
        <NotRead failure={issue.failure} reload={issue.reload} />
      ) : order === undefined ? (
        <p class="dim">{issue.value === null ? 'Loading …' : 'The order is older than what is shown here.'}</p>
      ) : (
        <Facts
          facts={{
            Worker: `${order.worker} (${order.worker_type})`,
            Role: text('role'),
            Repository: text('repo_dir'),
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
