export { createClient } from './create-client.js';
export type { Client, FilePreview, InputOf, PreviewInput, RawInput } from './create-client.js';
export { CLIENT_ERROR_CODES, ClientError } from './client-error.js';
export type { ClientErrorCode, ClientErrorDetails } from './client-error.js';
export type { FollowInput, Gap, ProtocolEvents } from './follow-run.js';
export type { ClientOptions } from './send-request.js';
