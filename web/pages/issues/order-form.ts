import type { Client } from '../../../src/client/index.js';
import type { FieldMap } from '../../server/refusal.js';
import { splitLines } from '../../ui/fields.js';

/** The body of `POST /v1/orders`. */
export type OrderRequest = Parameters<Client['submitOrder']>[0]['body'];

/** The fields of an empty order form. */
export const EMPTY_ORDER_FORM = {
  issueRef: '',
  role: '',
  worker: '',
  /** A folder on the server, or the URL of a repository. */
  repository: '',
  instructions: '',
  constraints: '',
  specRef: '',
  contractsRef: '',
  dependsOn: '',
  priority: '0',
  isolation: 'default',
  checks: '',
  paths: '',
  expects: 'change',
  race: '',
  /** The last submission's request id; empty once any field was changed. */
  requestId: '',
};

/** See {@link EMPTY_ORDER_FORM}. */
export type OrderForm = Readonly<typeof EMPTY_ORDER_FORM>;

/** A form field. */
export type OrderField = keyof OrderForm;

/** The form field for each problem path or code. */
export const ORDER_FIELD_MAP: FieldMap<OrderField> = {
  paths: {
    issue_ref: 'issueRef',
    role: 'role',
    worker: 'worker',
    repo_dir: 'repository',
    repo: 'repository',
    instructions: 'instructions',
    constraints: 'constraints',
    spec_ref: 'specRef',
    contracts_ref: 'contractsRef',
    depends_on: 'dependsOn',
    priority: 'priority',
    isolation: 'isolation',
    checks: 'checks',
    paths: 'paths',
    expects: 'expects',
    race: 'race',
  },
  codes: {
    UNKNOWN_WORKER: 'worker',
    UNKNOWN_CHECK: 'checks',
    FOLDER_NOT_ALLOWED: 'repository',
    UNKNOWN_REPO: 'repository',
  },
};

/** Fills the form with an earlier order, to be edited and resubmitted. */
export function fillOrderForm(order: Readonly<Record<string, unknown>>): OrderForm {
  const text = (name: string): string => (typeof order[name] === 'string' ? order[name] : '');
  const lines = (name: string): string => {
    const value = order[name];
    return Array.isArray(value) ? value.map(String).join('\n') : '';
  };
  return {
    issueRef: text('issue_ref'),
    role: text('role'),
    worker: text('worker'),
    repository: text('repo') || text('repo_dir'),
    instructions: text('instructions'),
    constraints: lines('constraints'),
    specRef: text('spec_ref'),
    contractsRef: text('contracts_ref'),
    dependsOn: lines('depends_on'),
    priority: typeof order['priority'] === 'number' ? String(order['priority']) : '0',
    isolation: ISOLATIONS.find((known) => known === order['isolation']) ?? 'default',
    checks: lines('checks'),
    paths: lines('paths'),
    expects: order['expects'] === 'report' ? 'report' : 'change',
    race: typeof order['race'] === 'number' ? String(order['race']) : lines('race').replaceAll('\n', ', '),
    requestId: '',
  };
}

/**
 * Builds the request and finds errors that can be detected without the server. `repos` lists the configured
 * repositories, once loaded.
 */
export function checkOrderForm(
  form: OrderForm,
  repos?: readonly string[],
): {
  readonly request: OrderRequest;
  readonly errors: Readonly<Partial<Record<OrderField, string>>>;
} {
  const errors: { -readonly [Field in OrderField]?: string } = {};
  if (!/^\S+#\S+$/.test(form.issueRef.trim()))
    errors.issueRef = 'Enter a reference such as owner/repo#12 or local#name.';
  if (!/^[a-z]\w*(?:-\w+)*$/i.test(form.role.trim())) errors.role = 'Enter a word such as backend or qa.';
  if (form.worker.trim() === '') errors.worker = 'Choose a wrapper.';
  const repository = form.repository.trim();
  const repositoryError = findRepositoryError(repository, repos);
  if (repositoryError !== undefined) errors.repository = repositoryError;
  if (form.instructions.trim() === '') errors.instructions = 'Enter the instructions.';
  const priority = Number(form.priority.trim() || '0');
  if (!Number.isInteger(priority) || Math.abs(priority) > 1000)
    errors.priority = 'Enter a whole number from -1000 to 1000.';
  const constraints = splitLines(form.constraints);
  const dependsOn = splitLines(form.dependsOn);
  const [checks, paths] = [splitLines(form.checks), splitLines(form.paths)];
  const race = readRace(form.race);
  if (isUrl(repository) && form.isolation === 'repository')
    errors.isolation = 'An order with a repository URL uses a worktree. Choose Default or Worktree.';
  if (race === 'invalid') errors.race = 'Enter a number from 2 to 8, or 2 to 8 wrappers separated by commas.';
  const request: OrderRequest = {
    issue_ref: form.issueRef.trim(),
    role: form.role.trim(),
    worker: form.worker.trim(),
    ...(isUrl(repository) ? { repo: repository } : { repo_dir: repository }),
    instructions: form.instructions,
    ...(constraints.length === 0 ? {} : { constraints }),
    ...(form.specRef.trim() === '' ? {} : { spec_ref: form.specRef.trim() }),
    ...(form.contractsRef.trim() === '' ? {} : { contracts_ref: form.contractsRef.trim() }),
    ...(dependsOn.length === 0 ? {} : { depends_on: dependsOn }),
    ...(priority === 0 ? {} : { priority }),
    ...chooseIsolation(form.isolation),
    ...(checks.length === 0 ? {} : { checks }),
    ...(paths.length === 0 ? {} : { paths }),
    ...(form.expects === 'report' ? { expects: 'report' } : {}),
    ...(race === undefined || race === 'invalid' ? {} : { race }),
  };
  return { request, errors };
}

/** Whether a repository is given as a URL instead of a folder. */
function isUrl(repository: string): boolean {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(repository);
}

function findRepositoryError(repository: string, repos: readonly string[] | undefined): string | undefined {
  if (!isUrl(repository)) {
    const isAbsolute = /^(?:\/|[A-Za-z]:[\\/])/.test(repository);
    return isAbsolute ? undefined : 'Enter the absolute path of a folder on the server, or a repository URL.';
  }
  if (repos === undefined || repos.includes(repository)) return undefined;
  const hint = repos.length === 0 ? 'None are configured.' : `Configured: ${repos.join(', ')}.`;
  return `This repository is not configured. Add its URL to "repos" in the configuration. ${hint}`;
}

const ISOLATIONS = ['repository', 'worktree'] as const;

/** Returns the isolation to send; undefined leaves the choice to Sluice. */
function chooseIsolation(chosen: string): { readonly isolation?: (typeof ISOLATIONS)[number] } {
  const isolation = ISOLATIONS.find((known) => known === chosen);
  return isolation === undefined ? {} : { isolation };
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
