export { toParseOutput } from './parse-output.js';
export type { Problem } from './shapes/problem.js';
export type { AnswerOf, BodyOf, Endpoint, ParametersOf, Scope } from './endpoint.js';
export { ENDPOINTS, type EndpointName } from './endpoints.js';
export { createOpenApi, type OpenApi } from './openapi.js';
export { sessionCookieOf } from './shapes/session.js';
export type { StatisticsView } from './shapes/statistics.js';
export type { InboxItemView, IssueView, OrderView, OutboxMessageView } from './shapes/order.js';
export type { RunSummary, RunView } from './shapes/run.js';
