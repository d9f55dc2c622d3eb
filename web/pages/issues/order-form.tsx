import type { Client } from '../../../src/server/client/index.js';
import { toPath } from '../../app/route.js';
import { navigate } from '../../app/router.js';
import { client } from '../../data/client.js';
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
  type FieldErrors,
  type FieldMap,
  type FormOf,
} from '../../ui/form.js';
import { Loaded } from '../../ui/parts.js';
import { t } from './texts.js';

/** The page for a new order, or for editing and resubmitting an issue's last order. */
export function OrderFormPage({ issueRef }: Readonly<{ issueRef: string | null }>) {
  return (
    <>
      <div class="page-head">
        <h1>{issueRef === null ? t.submitAnOrder : t.submitAgainIssue(issueRef)}</h1>
        <a class="end" href={toPath({ page: 'issues', ref: issueRef })}>
          {issueRef === null ? t.allIssues : t.backToTheIssue}
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
    <Loaded resource={lastOrder} title={t.cannotLoadTheLastOrder}>
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
  const folder = t.aFolderOnTheServer(roots.length === 0 ? t.oneOfTheRoots : roots.join(t.or));
  const knownChecks = checks.length === 0 ? t.noneAreConfigured : t.configured(checks.join(', '));
  return (
    <RequestFormView
      form={form}
      choices={choices}
      texts={{
        purpose: t.submitOrders,
        failureTitle: t.theOrderWasNotSubmitted,
        unansweredTitle: t.theServerDidNotRespond,
        submit: t.submitOrder,
        sending: t.submitting,
        effect: t.theNewRunBecomesThe,
      }}
    >
      <div class="stack">
        <div class="pair">
          {text('issueRef', t.issue, t.forExampleOwnerRepo12, CODE)}
          {text('role', t.role, t.forExampleBackendOrQa, CODE)}
        </div>
        {select(
          'worker',
          t.wrapper,
          t.howTheAgentIsStarted,
          workers.map(({ name: value, type }) => ({ value, label: value === type ? value : `${value} (${type})` })),
        )}
        {text('repository', t.repository, repos.length === 0 ? folder : t.orAUrl(folder, repos.join(', ')), {
          ...CODE,
          list: 'repositories',
        })}
        <datalist id="repositories">
          {[...roots, ...repos].map((known) => (
            <option key={known} value={known} />
          ))}
        </datalist>
        {area('instructions', t.instructions, t.whatTheAgentShouldDo, { rows: 8 })}
        {area('constraints', t.constraints, t.optionalOnePerLine, { rows: 3 })}
      </div>
      <div class="stack">
        <FormCard title={t.checksAndRace} isOpen>
          <div class="pair">
            {area('checks', t.checks, t.optionalChecksThatSluiceRuns(knownChecks), { rows: 2 })}
            {area('paths', t.claims.paths, t.optionalTheFilesThatThe, { rows: 2 })}
          </div>
          {text('race', t.race, t.optionalTheNumberOfCompeting, CODE)}
          {radio('expects', t.expectedResult, [
            ['change', t.change, t.aCommitOrAPull],
            ['report', t.report, t.aWrittenAnswerNoCommit],
          ])}
        </FormCard>
        <FormCard title={t.referencesAndScheduling}>
          <div class="pair">
            {text('specRef', t.specification, t.optionalUrlOrPath, CODE)}
            {text('contractsRef', t.contracts, t.optionalUrlOrPathOf, CODE)}
            {text('priority', t.priority, t.ordersWithAHigherNumber, CODE)}
          </div>
          {area('dependsOn', t.dependsOn, t.optionalIssuesThatMustBe, {
            rows: 2,
          })}
          {radio('isolation', t.isolation, [
            ['default', t.defaultText, t.aWorktreeInAGit],
            ['repository', t.repository, t.worksInTheFolderItself],
            ['worktree', t.worktree, t.usesASeparateGitWorktree],
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

export type OrderForm = { readonly [Name in keyof FormOf<typeof ORDER_FIELDS>]: string };

export function fillOrderForm(order: StoredOrder): OrderForm {
  return fillForm(ORDER_FIELDS, order);
}

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
    issueRef: /^\S+#\S+$/.test(request.issue_ref) ? '' : t.enterAReferenceSuchAs,
    role: /^[a-z]\w*(?:-\w+)*$/i.test(request.role) ? '' : t.enterAWordSuchAs,
    worker: request.worker === '' ? t.chooseAWrapper : '',
    repository: findRepositoryError(repository, repos),
    instructions: form.instructions.trim() === '' ? t.enterTheInstructions : '',
    priority: Number.isInteger(priority) && Math.abs(priority) <= 1000 ? '' : t.enterAWholeNumberFrom,
    isolation: isUrl(repository) && form.isolation === 'repository' ? t.anOrderWithARepository : '',
    race: race === 'invalid' ? t.enterANumberFrom2 : '',
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
    return isAbsolute ? '' : t.enterTheAbsolutePathOf;
  }
  if (repos === undefined || repos.includes(repository)) return '';
  const hint = repos.length === 0 ? t.noneAreConfigured : t.configured(repos.join(', '));
  return t.thisRepositoryIsNotConfigured(hint);
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
