import {
  booleanField,
  countField,
  field,
  isRecord,
  nameField,
  objectField,
  stringField,
} from '../../reading/record-fields.js';
import type { Report } from '../report.js';
import { ERROR_FIELDS, ERROR_NAMES } from './records.js';

/**
 * Reads the error of a session. OpenCode retries in silence and prints an error only when it has given up, also one
 * that could be tried again (`isRetryable`). If it goes on all the same, the next step takes the failure back.
 */
export function readError(record: object, report: Report): void {
  const error = field(record, 'error');
  if (!isRecord(error)) {
    if (typeof error !== 'string') return report.unparsed('MALFORMED_RECORD', 'An error record has no error.');
    report.engineError({ message: error });
    return report.runtimeError(error);
  }
  report.checkFields(error, ERROR_FIELDS, 'error.error');
  const name = nameField(error, 'name') ?? 'an error without a name';
  const data = objectField(error, 'data') ?? error;
  const message = stringField(data, 'message') ?? name;
  report.engineError({
    message,
    ...(name === 'ProviderAuthError' ? { code: 'ENGINE_AUTH_HINT' as const } : undefined),
    httpStatus: countField(data, 'statusCode'),
    detail: { name, is_retryable: booleanField(data, 'isRetryable'), response_body: field(data, 'responseBody') },
  });
  if (!ERROR_NAMES.has(name)) {
    report.warning('UNKNOWN_FIELD', `OpenCode named the unknown error ${name}; it is told as it is.`, {
      subject: name,
    });
  }
  report.runtimeError(message);
}
