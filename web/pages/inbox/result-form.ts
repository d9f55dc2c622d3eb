import { getErrorMessage } from '../../../src/base/index.js';

/** A work result while a person corrects it. Issue, run and status are not among the fields: they are given. */
export const EMPTY_RESULT_FORM = {
  pr: '',
  commit: '',
  /** `report`, or `n/a` for work that has no tests. */
  tests: 'report',
  testCommand: '',
  testResult: 'pass',
  testEvidence: '',
  summary: '',
  questions: '',
};

/** See {@link EMPTY_RESULT_FORM}. */
export type ResultForm = Readonly<typeof EMPTY_RESULT_FORM>;

/** A field of the form, or the whole as JSON. */
export type ResultField = keyof ResultForm | 'json';

/** The form field for each path in the server's response. */
export const RESULT_PLACES: Readonly<Record<string, ResultField>> = {
  changes: 'pr',
  'changes.pr': 'pr',
  'changes.commit': 'commit',
  tests: 'testCommand',
  'tests.command': 'testCommand',
  'tests.result': 'testResult',
  'tests.evidence': 'testEvidence',
  summary: 'summary',
  questions: 'questions',
};

const TEST_RESULTS = ['pass', 'fail', 'n/a'];

/** Fills the form with a worker's result, strict or repaired; missing fields stay empty. */
export function fillResultForm(value: unknown): ResultForm {
  if (!isRecord(value)) return EMPTY_RESULT_FORM;
  const changes = isRecord(value['changes']) ? value['changes'] : {};
  const { tests } = value;
  const report = isRecord(tests) ? tests : {};
  const outcome = asText(report['result']);
  return {
    pr: asText(changes['pr']),
    commit: asText(changes['commit']),
    tests: tests === 'n/a' ? 'n/a' : 'report',
    testCommand: asText(report['command']),
    // Words in which no result was recognised leave the choice to the person.
    testResult: outcome === '' ? 'pass' : TEST_RESULTS.includes(outcome) ? outcome : '',
    testEvidence: asText(report['evidence']),
    summary: asText(value['summary']),
    questions: Array.isArray(value['questions']) ? value['questions'].map(asText).join('\n') : '',
  };
}

/** Builds the result of a form. Empty fields are left out: the server reports what is missing. */
export function buildResult(
  form: ResultForm,
  { issue_ref, run_id }: { readonly issue_ref: string; readonly run_id: string },
): Readonly<Record<string, unknown>> {
  const questions = form.questions.split('\n').filter((line) => line.trim() !== '');
  return {
    issue_ref,
    run_id,
    status: 'ok',
    changes: said({ pr: form.pr.trim(), commit: form.commit.trim() }),
    tests:
      form.tests === 'n/a'
        ? 'n/a'
        : said({ command: form.testCommand.trim(), result: form.testResult, evidence: form.testEvidence.trim() }),
    summary: form.summary,
    ...(questions.length === 0 ? {} : { questions }),
  };
}

/** Finds required fields that are missing in the form: the server would refuse it. */
export function findMissing(form: ResultForm): Readonly<Partial<Record<ResultField, string>>> {
  const isEmpty = (field: keyof ResultForm): boolean => form[field].trim() === '';
  const isTested = form.tests !== 'n/a';
  return {
    ...(isEmpty('summary') ? { summary: 'Required.' } : {}),
    ...(isEmpty('pr') && isEmpty('commit') ? { pr: 'Enter a pull request or a commit.' } : {}),
    ...(isTested && isEmpty('testCommand') ? { testCommand: 'Enter the command, or choose No tests.' } : {}),
    ...(isTested && isEmpty('testResult') ? { testResult: 'Choose the result.' } : {}),
    ...(isTested && isEmpty('testEvidence') ? { testEvidence: 'Required.' } : {}),
  };
}

/** A result as JSON that people can read and write. */
export function printResult(result: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(result, null, 2);
}

/** A result that was written as JSON, or what is wrong with it. */
export function parseResult(
  text: string,
): { readonly result: Readonly<Record<string, unknown>> } | { readonly wrong: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? { result: value } : { wrong: 'A work result is an object.' };
  } catch (error) {
    return { wrong: `Invalid JSON: ${getErrorMessage(error)}` };
  }
}

function said(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** A repaired draft may have any shape. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
