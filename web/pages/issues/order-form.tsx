import type { Client } from '../../../src/server/client/index.js';
import { toPath } from '../../app/route.js';
import { navigate } from '../../app/router.js';
import { client } from '../../data/client.js';
import type { FieldErrors, FieldMap } from '../../data/refusal.js';
import { asFailure, useResource } from '../../data/resource.js';
import {
  bindFields,
  FormCard,
  fillForm,
  omitUnset,
  RequestFormView,
  splitLines,
  useRequestForm,
  mapPaths,
} from '../../ui/form.js';
import type { FormOf } from '../../ui/form.js';
import { Loaded } from '../../ui/notice.js';

/** The page for a new order, or for editing and resubmitting an issue's last order. */
export function OrderFormPage({ issueRef }: Readonly<{ issueRef: string | null }>) {
  return (
    <>
      <div class="page-head">
        <h1>{issueRef === null ? 'Submit an order' : `Submit again: ${issueRef}`}</h1>
        <a class="end" href={toPath({ page: 'issues', ref: issueRef })}>
          {issueRef === null ? 'All issues' : 'Back to the issue'}
        </a>
      </div>
      {issueRef === null ? (
        <OrderFields name="order" initial={EMPTY_ORDER_FORM} />
      ) : (
        <SubmitAgain issueRef={issueRef} />
      )}
    </>
  );
}

function SubmitAgain({ issueRef }: Readonly<{ issueRef: string }>) {
  const lastOrder = useResource(`issue ${issueRef}`, async (signal) => {
    try {
      const { orders } = await client.getIssue({ ref: issueRef, signal });
      return orders[0]?.order ?? {};
    } catch (error) {
      // A new issue has no order yet, so its form is empty.
      if (asFailure(error).code === 'ISSUE_NOT_FOUND') return {};
      throw error;
    }
  });
  return (
    <Loaded resource={lastOrder} title="Cannot load the last order">
      {(order) => <OrderFields name={`order ${issueRef}`} initial={{ ...fillOrderForm(order), issueRef }} />}
    </Loaded>
  );
}

function OrderFields({ name, initial }: Readonly<{ name: string; initial: OrderForm }>) {
  const choices = useResource('engines', async (signal) => client.listEngines({ signal }));
  const { workers = [], roots = [], repos = [], checks = [] } = choices.value ?? {};
  const form = useRequestForm({
    draft: name,
    initial,
    defaults: { worker: workers[0]?.name ?? '', repository: roots[0] ?? '' },
    check: (fields: OrderForm) => checkOrderForm(fields, choices.value?.repos),
    fieldMap: ORDER_FIELD_MAP,
    send: async (body) => {
      const { issue_ref } = await client.submitOrder({ body });
      navigate(toPath({ page: 'issues', ref: issue_ref }));
    },
  });
  const { text, area, select, radio } = bindFields(form);
  const folder = `A folder on the server under ${roots.length === 0 ? 'one of the roots' : roots.join(' or ')}`;
  const knownChecks = checks.length === 0 ? 'None are configured.' : `Configured: ${checks.join(', ')}.`;
  return (
    <RequestFormView
      form={form}
      choices={choices}
      texts={{
        purpose: 'submit orders',
        failureTitle: 'The order was not submitted',
        unansweredTitle: 'The server did not respond. Submit again: the order is submitted only once',
        submit: 'Submit order',
        sending: 'Submitting …',
        effect: 'The new run becomes the active run. A run that is still working on this issue is stopped.',
      }}
    >
      <div class="stack">
        <div class="pair">
          {text('issueRef', 'Issue', 'For example owner/repo#12, group/project#12 or local#name.', CODE)}
          {text('role', 'Role', 'For example backend or qa. Part of the run id.', CODE)}
        </div>
        {select(
          'worker',
          'Wrapper',
          'How the agent is started: a configured or built-in wrapper.',
          workers.map(({ name: value, type }) => ({ value, label: value === type ? value : `${value} (${type})` })),
        )}
        {text(
          'repository',
          'Repository',
          repos.length === 0 ? `${folder}.` : `${folder}, or a URL: ${repos.join(', ')}.`,
          { ...CODE, list: 'repositories' },
        )}
        <datalist id="repositories">
          {[...roots, ...repos].map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        {area('instructions', 'Instructions', 'What the agent should do.', { rows: 8 })}
        {area('constraints', 'Constraints', 'Optional. One per line.', { rows: 3 })}
      </div>
      <div class="stack">
        <FormCard title="Checks and race" isOpen>
          <div class="pair">
            {area(
              'checks',
              'Checks',
              `Optional. Checks that Sluice runs on the change, one per line. Default: the wrapper’s checks. ${knownChecks}`,
              { rows: 2 },
            )}
            {area(
              'paths',
              'Paths',
              'Optional. The files that the change may touch: globs such as src/**, one per line.',
              { rows: 2 },
            )}
          </div>
          {text(
            'race',
            'Race',
            'Optional. The number of competing runs (2 to 8), or the competing wrappers, separated by commas.',
            CODE,
          )}
          {radio('expects', 'Expected result', [
            ['change', 'Change', 'A commit or a pull request.'],
            ['report', 'Report', 'A written answer; no commit is needed.'],
          ])}
        </FormCard>
        <FormCard title="References and scheduling">
          <div class="pair">
            {text('specRef', 'Specification', 'Optional. URL or path.', CODE)}
            {text('contractsRef', 'Contracts', 'Optional. URL or path of contracts to follow.', CODE)}
            {text('priority', 'Priority', 'Orders with a higher number run first. Default: 0.', CODE)}
          </div>
          {area('dependsOn', 'Depends on', 'Optional. Issues that must be in review or done first, one per line.', {
            rows: 2,
          })}
          {radio('isolation', 'Isolation', [
            ['default', 'Default', 'A worktree in a git repository; a folder without git is used itself.'],
            [
              'repository',
              'Repository',
              'Works in the folder itself, on a new branch; refused if it has uncommitted changes.',
            ],
            ['worktree', 'Worktree', 'Uses a separate git worktree, so multiple orders can run concurrently.'],
          ])}
        </FormCard>
      </div>
    </RequestFormView>
  );
}

const CODE = { spellcheck: false };
type OrderRequest = Parameters<Client['submitOrder']>[0]['body'];
type StoredOrder = Readonly<Record<string, unknown>>;
const ISOLATIONS = ['repository', 'worktree'] as const;
const textAt = (path: string) => ({ path, read: (order: StoredOrder) => asText(order[path]) });
const linesAt = (path: string) => ({ path, read: (order: StoredOrder) => asLines(order[path]).join('\n') });

/** The fields of the form: the path of each in an order, and its value for an earlier order. */
const ORDER_FIELDS = {
  issueRef: textAt('issue_ref'),
  role: textAt('role'),
  worker: textAt('worker'),
  /** A folder on the server, or the URL of a repository. */
  repository: { path: 'repo_dir', read: ({ repo, repo_dir }: StoredOrder) => asText(repo) || asText(repo_dir) },
  instructions: textAt('instructions'),
  constraints: linesAt('constraints'),
  specRef: textAt('spec_ref'),
  contractsRef: textAt('contracts_ref'),
  dependsOn: linesAt('depends_on'),
  priority: { path: 'priority', read: ({ priority }: StoredOrder) => asText(priority) || '0' },
  isolation: {
    path: 'isolation',
    read: ({ isolation }: StoredOrder): string => ISOLATIONS.find((known) => known === isolation) ?? 'default',
  },
  checks: linesAt('checks'),
  paths: linesAt('paths'),
  expects: { path: 'expects', read: ({ expects }: StoredOrder) => (expects === 'report' ? 'report' : 'change') },
  race: { path: 'race', read: ({ race }: StoredOrder) => asText(race) || asLines(race).join(', ') },
  /** The last submission's request id; empty once any field was changed. */
  requestId: { path: null, read: (): string => '' },
};

/** The values of the form. */
export type OrderForm = { readonly [Name in keyof FormOf<typeof ORDER_FIELDS>]: string };

/** Fills the form with an earlier order, to be edited and resubmitted. */
export function fillOrderForm(order: StoredOrder): OrderForm {
  return fillForm(ORDER_FIELDS, order);
}

/** An empty form. */
export const EMPTY_ORDER_FORM: OrderForm = fillOrderForm({});

function asText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function asLines(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

const ORDER_FIELD_MAP: FieldMap<keyof OrderForm> = {
  paths: { ...mapPaths(ORDER_FIELDS), repo: 'repository' },
  codes: {
    UNKNOWN_WORKER: 'worker',
    UNKNOWN_CHECK: 'checks',
    FOLDER_NOT_ALLOWED: 'repository',
    UNKNOWN_REPO: 'repository',
  },
};

/** Builds the request and finds errors that need no server. `repos`: the configured repositories, once loaded. */
export function checkOrderForm(
  form: OrderForm,
  repos?: readonly string[],
): Readonly<{ request: OrderRequest; errors: FieldErrors<keyof OrderForm> }> {
  const repository = form.repository.trim();
  const priority = Number(form.priority.trim() || '0');
  const race = readRace(form.race);
  const request: OrderRequest = {
    issue_ref: form.issueRef.trim(),
    role: form.role.trim(),
    worker: form.worker.trim(),
    ...(isUrl(repository) ? { repo: repository } : { repo_dir: repository }),
    instructions: form.instructions,
    ...omitUnset({
      constraints: listLines(form.constraints),
      spec_ref: form.specRef.trim(),
      contracts_ref: form.contractsRef.trim(),
      depends_on: listLines(form.dependsOn),
      priority: priority === 0 ? undefined : priority,
      // Without a choice, Sluice decides.
      isolation: ISOLATIONS.find((known) => known === form.isolation),
      checks: listLines(form.checks),
      paths: listLines(form.paths),
      expects: form.expects === 'report' ? ('report' as const) : undefined,
      race: race === 'invalid' ? undefined : race,
    }),
  };
  const errors = omitUnset({
    issueRef: /^\S+#\S+$/.test(request.issue_ref) ? '' : 'Enter a reference such as owner/repo#12 or local#name.',
    role: /^[a-z]\w*(?:-\w+)*$/i.test(request.role) ? '' : 'Enter a word such as backend or qa.',
    worker: request.worker === '' ? 'Choose a wrapper.' : '',
    repository: findRepositoryError(repository, repos),
    instructions: form.instructions.trim() === '' ? 'Enter the instructions.' : '',
    priority:
      Number.isInteger(priority) && Math.abs(priority) <= 1000 ? '' : 'Enter a whole number from -1000 to 1000.',
    isolation:
      isUrl(repository) && form.isolation === 'repository'
        ? 'An order with a repository URL uses a worktree. Choose Default or Worktree.'
        : '',
    race: race === 'invalid' ? 'Enter a number from 2 to 8, or 2 to 8 wrappers separated by commas.' : '',
  });
  return { request, errors };
}

function listLines(text: string): readonly string[] | undefined {
  const entries = splitLines(text);
  return entries.length === 0 ? undefined : entries;
}

function isUrl(repository: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(repository);
}

function findRepositoryError(repository: string, repos: readonly string[] | undefined): string {
  if (!isUrl(repository)) {
    const isAbsolute = /^(?:\/|[A-Za-z]:[\\/])/.test(repository);
    return isAbsolute ? '' : 'Enter the absolute path of a folder on the server, or a repository URL.';
  }
  if (repos === undefined || repos.includes(repository)) return '';
  const hint = repos.length === 0 ? 'None are configured.' : `Configured: ${repos.join(', ')}.`;
  return `This repository is not configured. Add its URL to "repos" in the configuration. ${hint}`;
}

/** Parses the number of competing runs, or the names of the competing wrappers; undefined for a single run. */
function readRace(written: string): number | readonly string[] | undefined | 'invalid' {
  const parts = written.split(',').map((part) => part.trim());
  const [first = ''] = parts;
  if (first === '' && parts.length === 1) return undefined;
  const isNumber = parts.length === 1 && /^\d+$/.test(first);
  const size = isNumber ? Number(first) : parts.length;
  if (size < 2 || size > 8 || parts.includes('')) return 'invalid';
  return isNumber ? size : parts;
}
