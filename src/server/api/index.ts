export { type ParseOutput, toParseOutput } from './shapes/parse.js';
export { getSessionCookieName, type Problem, type StatisticsView } from './shapes/service.js';
export type { ResponseOf, BodyOf, Endpoint, ParametersOf, Scope } from './endpoint.js';
export { ENDPOINTS, type EndpointName } from './endpoints.js';
export { WORKER_PROTOCOL, type workerCallSchema, type workerEndSchema } from './endpoints/worker.js';
export { createOpenApi, type OpenApi } from './openapi/create-openapi.js';
export type { OrderView, WaitingEntry } from './shapes/order.js';
export type { Change, InboxItem, OutboxMessage } from '../../store/records/index.js';
export type { RunSummary, RunView } from './shapes/run.js';
