import { getErrorMessage } from '../../../src/base/index.js';

/** The fields of an empty work result. Issue, run and status are fixed and therefore not included. */
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

/** A form field, or the JSON of the whole result. */
export type ResultField = keyof ResultForm | 'json';

/** The form field for each problem path. */
export const RESULT_PATHS: Readonly<Record<string, ResultField>> = {
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

/** Fills the form with an agent's result, strict or repaired; missing fields stay empty. */
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
    // If the result is unknown, the user must choose.
    testResult: outcome === '' ? 'pass' : TEST_RESULTS.includes(outcome) ? outcome : '',
    testEvidence: asText(report['evidence']),
    summary: asText(value['summary']),
    questions: Array.isArray(value['questions']) ? value['questions'].map(asText).join('\n') : '',
  };
}

/** Builds a result from a form. Empty fields are omitted, so the server reports them as missing. */
export function buildResult(
  form: ResultForm,
  { issue_ref, run_id }: { readonly issue_ref: string; readonly run_id: string },
): Readonly<Record<string, unknown>> {
  const questions = form.questions.split('\n').filter((line) => line.trim() !== '');
  return {
    issue_ref,
    run_id,
    status: 'ok',
    changes: omitEmpty({ pr: form.pr.trim(), commit: form.commit.trim() }),
    tests:
      form.tests === 'n/a'
        ? 'n/a'
        : omitEmpty({ command: form.testCommand.trim(), result: form.testResult, evidence: form.testEvidence.trim() }),
    summary: form.summary,
    ...(questions.length === 0 ? {} : { questions }),
  };
}

/** Finds missing required fields, which the server would reject. */
export function findMissing(form: ResultForm): Readonly<Partial<Record<ResultField, string>>> {
  const isEmpty = (field: keyof ResultForm): boolean => form[field].trim() === '';
  const isTested = form.tests !== 'n/a';
  return {
    ...(isEmpty('summary') ? { summary: 'Enter a summary.' } : {}),
    ...(isEmpty('pr') && isEmpty('commit') ? { pr: 'Enter a pull request or a commit.' } : {}),
    ...(isTested && isEmpty('testCommand') ? { testCommand: 'Enter the command, or choose No tests.' } : {}),
    ...(isTested && isEmpty('testResult') ? { testResult: 'Choose the result.' } : {}),
    ...(isTested && isEmpty('testEvidence') ? { testEvidence: 'Enter the evidence, or choose No tests.' } : {}),
  };
}

/** Formats a result as indented JSON. */
export function formatResult(result: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(result, null, 2);
}

/** Parses a result from JSON; returns the error if it is invalid. */
export function parseResult(
  text: string,
): { readonly result: Readonly<Record<string, unknown>> } | { readonly error: string } {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value)
      ? { result: value }
      : { error: 'The JSON is not an object. Enter a work result as a JSON object.' };
  } catch (error) {
    return { error: `Invalid JSON: ${getErrorMessage(error)}` };
  }
}

function omitEmpty(fields: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
}

/** Whether a value is an object; a repaired draft can be any value. */
function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
