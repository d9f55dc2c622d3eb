import type { Dir } from 'node:fs';
import { mkdir, opendir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SluiceError, getErrorCode, getErrorMessage, type OpenFile } from '../../base/index.js';
import { isPresent, openForReading, readSmallFile, readSpan, replaceFile } from '../../base/files/index.js';
import type { StandardSchema } from '../../json/index.js';
import { fromRecordSchema, isJsonObject } from '../../json/schema/index.js';
import { assessmentSchema, suiteCaseSchema, SuiteError, type Assessment, type SuiteCase } from './case-record.js';

export const CASE_FILES = {
  details: 'case.json',
  schema: 'schema.json',
  expected: 'expected.json',
  answer: 'answer.txt',
  run: 'run',
} as const;

export interface CaseFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

export interface OpenCase {
  readonly name: string;
  readonly folder: string;
  readonly details: SuiteCase;
  readonly schema: Readonly<Record<string, unknown>> | undefined;
  readonly expected: Assessment;
}

/** The maximum size of a case: cases are committed to repositories. */
export const CASE_BYTES = 16 * 1024 * 1024;

const MAX_CASES = 10_000;

const CASE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

/** Throws unless the name is a valid folder name on all systems and is not hidden. */
function checkCaseName(name: string): void {
  if (CASE_NAME.test(name)) return;
  const message = `Invalid case name ${JSON.stringify(name.slice(0, 120))}. Use up to 100 letters, digits, dots, underscores and dashes; start with a letter or a digit.`;
  throw new SuiteError('CASE_INVALID', message);
}

export async function writeCase(suite: string, name: string, files: readonly CaseFile[]): Promise<string> {
  checkCaseName(name);
  const folder = join(suite, name);
  if (await isPresent(folder)) {
    const message = `The case "${name}" already exists in "${suite}" and was not changed. Choose another --name, or update its expectations with sluice suite accept.`;
    throw new SluiceError('TARGET_EXISTS', message);
  }
  const temporaryFolder = join(suite, `.${name}.${process.pid}.part`);
  try {
    for (const { path, bytes } of files) {
      const target = join(temporaryFolder, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, bytes, { flag: 'wx' });
    }
    await rename(temporaryFolder, folder);
  } finally {
    await rm(temporaryFolder, { recursive: true, force: true });
  }
  return folder;
}

/** Reads a regular file; undefined if it is missing. Links, which a repository can contain, are not followed. */
export async function readCaseFile(
  path: string,
  maxBytes: number,
  openFile: OpenFile = async () => openForReading(path),
): Promise<Uint8Array | undefined> {
  const handle = await openFile();
  if (handle === undefined) return undefined;
  try {
    const { size } = await handle.stat();
    if (size > maxBytes) {
      const message = `The case would be larger than ${CASE_BYTES} bytes: "${path}" alone has ${size}. Add a shorter run.`;
      throw new SuiteError('CASE_TOO_LARGE', message);
    }
    return await readSpan(handle, 0, size);
  } finally {
    await handle.close();
  }
}

export async function writeExpected({ folder }: Pick<OpenCase, 'folder'>, expected: Assessment): Promise<void> {
  await replaceFile(join(folder, CASE_FILES.expected), formatJson(expected));
}

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Lists the names of all cases, sorted; empty if the suite folder does not exist. */
export async function listCases(suite: string): Promise<readonly string[]> {
  const names: string[] = [];
  const folder = await openSuite(suite);
  if (folder === undefined) return names;
  for await (const entry of folder) {
    if (!entry.isDirectory() || !CASE_NAME.test(entry.name)) continue;
    if (names.length === MAX_CASES) {
      throw new SuiteError(
        'CASE_TOO_LARGE',
        `"${suite}" has more than ${MAX_CASES} cases. Split it into multiple suites.`,
      );
    }
    names.push(entry.name);
  }
  return names.toSorted();
}

/** Opens a suite folder; undefined if it does not exist. An unreadable folder is an error, and not an empty suite. */
async function openSuite(suite: string): Promise<Dir | undefined> {
  try {
    return await opendir(suite);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    const message = `Cannot read the suite "${suite}": ${getErrorMessage(error)}. Check the path and its permissions.`;
    throw new SuiteError('SUITE_UNREADABLE', message, { cause: error });
  }
}

const detailsSchema = fromRecordSchema<SuiteCase>(suiteCaseSchema);
const expectedSchema = fromRecordSchema<Assessment>(assessmentSchema);

/** Opens a case; throws `CASE_NOT_FOUND`, `SUITE_UNREADABLE`, or `CASE_INVALID` if one of its files cannot be read. */
export async function openCase(suite: string, name: string): Promise<OpenCase> {
  checkCaseName(name);
  const folder = join(suite, name);
  const details = await readJson(folder, CASE_FILES.details);
  if (details === undefined) {
    // Throws if the suite itself cannot be read.
    await (await openSuite(suite))?.close();
    throw new SuiteError(
      'CASE_NOT_FOUND',
      `Case "${name}" not found in "${suite}". List all cases with: sluice suite list`,
    );
  }
  const schema = await readJson(folder, CASE_FILES.schema);
  if (schema !== undefined && !isJsonObject(schema)) {
    throw new SuiteError('CASE_INVALID', `"${join(folder, CASE_FILES.schema)}" is not a JSON Schema. Restore it.`);
  }
  const expected = await readJson(folder, CASE_FILES.expected);
  return {
    name,
    folder,
    details: checkShape(detailsSchema, details, join(folder, CASE_FILES.details)),
    schema,
    expected: checkShape(expectedSchema, expected, join(folder, CASE_FILES.expected)),
  };
}

async function readJson(folder: string, file: string): Promise<unknown> {
  const path = join(folder, file);
  const text = (await isPresent(folder)) ? await readSmallFile(path, CASE_BYTES) : undefined;
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const message = `"${path}" is not valid JSON: ${getErrorMessage(error)}. Restore it.`;
    throw new SuiteError('CASE_INVALID', message, { cause: error });
  }
}

function checkShape<T>(schema: StandardSchema<unknown, T>, value: unknown, path: string): T {
  const validated = schema['~standard'].validate(value);
  if (validated instanceof Promise) throw new TypeError('JSON Schema validation must be synchronous.');
  if (validated.issues === undefined) return validated.value;
  const [issue] = validated.issues;
  const property = (issue?.path ?? []).map(String).join('.');
  const problem =
    value === undefined ? 'is missing' : `is invalid: ${property === '' ? '' : `${property}: `}${issue?.message ?? ''}`;
  throw new SuiteError('CASE_INVALID', `"${path}" ${problem}. Restore it, or add the case again.`);
}
