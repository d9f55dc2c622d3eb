import { expect, test } from 'vitest';
import { ClientError } from '../../src/server/client/index.js';
import { readRefusal } from './form.js';

const form = {
  paths: { contract: 'contract', 'contract.schema': 'schema', env: 'env' },
  codes: { FOLDER_NOT_ALLOWED: 'workdir' },
} as const;

function refused(code: string, issues: readonly { readonly path: string; readonly message: string }[] = []) {
  const problem = { type: 'x', title: 'x', status: 400, detail: 'It does not fit.', code, request_id: 'r', issues };
  return new ClientError(code, 'It does not fit.', { status: 400, problem });
}

test('an issue is shown at the nearest field on its path', () => {
  const error = refused('INVALID_RUN_SPEC', [
    { path: 'contract.schema.properties.a', message: 'is not a schema' },
    { path: 'env.0', message: 'is not a name' },
  ]);
  expect(readRefusal(error, form)).toEqual({
    code: 'INVALID_RUN_SPEC',
    errors: { schema: 'is not a schema', env: 'is not a name' },
    message: null,
    isCertain: true,
  });
});

test('a code can name the field', () => {
  expect(readRefusal(refused('FOLDER_NOT_ALLOWED'), form)).toMatchObject({
    errors: { workdir: 'It does not fit.' },
    message: null,
  });
});

test('a problem that belongs to no field is shown separately', () => {
  const unassigned = refused('INVALID_BODY', [
    { path: 'constructor', message: 'no' },
    { path: 'env', message: 'not so' },
  ]);
  expect(readRefusal(unassigned, form)).toMatchObject({ errors: { env: 'not so' }, message: 'It does not fit.' });
  expect(readRefusal(new ClientError('SERVER_UNREACHABLE', 'Away.'), form)).toEqual({
    code: 'SERVER_UNREACHABLE',
    errors: {},
    message: 'Away.',
    isCertain: false,
  });
});

test('without a valid response it is uncertain whether the request was executed', () => {
  expect(readRefusal(refused('FOLDER_NOT_ALLOWED'), form).isCertain).toBe(true);
  expect(readRefusal(new ClientError('REQUEST_TIMED_OUT', 'Too long.', { status: 503 }), form).isCertain).toBe(false);
});
