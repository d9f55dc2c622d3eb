import { ENDPOINTS } from '../api/index.js';
import { isSluiceError } from '../../base/index.js';
import { fromJsonSchema } from '../../json/schema/index.js';
import { serveTasks } from '../../base/threads/index.js';
import { readJson } from '../http/read-request.js';
import { createRequestChecks } from '../http/request-checks.js';
import { RequestError } from '../http/request-error.js';
import { executeParse, createSchemaCache, type ParseResponse, type ParseRequest } from './execute-parse.js';

/** The thread's reply: errors are sent as data, because their class would be lost. */
export type ParseReply =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly parsed: ParseResponse['parsed'] }
  | { readonly code: string; readonly message: string; readonly issues: RequestError['extra']['issues'] };

const checks = createRequestChecks(ENDPOINTS.parse);
const compile = createSchemaCache((schema) => fromJsonSchema(schema, { trusted: false }));
const encoder = new TextEncoder();

serveTasks((body: Uint8Array): ParseReply => {
  try {
    const request = readJson(body);
    checks.body(request);
    const { json, parsed } = executeParse(request as ParseRequest, compile);
    return { bytes: encoder.encode(json), parsed };
  } catch (error) {
    if (!isSluiceError(error)) throw error;
    const { code, message } = error;
    return { code, message, issues: error instanceof RequestError ? error.extra.issues : undefined };
  }
});
