import type { Endpoint } from './endpoint.js';
import { parse, exportTextCase } from './endpoints/parse.js';
import {
  startRun,
  listRuns,
  getRun,
  replyToRun,
  cancelRun,
  followRun,
  followRunByPost,
  readHistory,
  listEngines,
} from './endpoints/runs.js';
import {
  readRaw,
  listRunFiles,
  readEvidence,
  readArtifact,
  exportRun,
  reportRun,
  exportRunCase,
} from './endpoints/run-files.js';
import { submitOrder, listIssues, getIssue, getIssueDiff, getIssueRace, receiveTrigger } from './endpoints/orders.js';
import { listWaiting, listInbox, getInboxItem, previewResolution, resolveItem } from './endpoints/inbox.js';
import {
  listOutbox,
  redeliverComment,
  redeliverSink,
  listSinks,
  listExecutions,
  exportExecutions,
  listWorkers,
  listBudgets,
  readStatistics,
} from './endpoints/records.js';
import { openSession, getSession, closeSession, health, ready, metrics } from './endpoints/service.js';

/**
 * All endpoints by name, in the order of the documentation. The server, the client and the OpenAPI document are built
 * from this table; `endpoints/` defines the requests and responses.
 */
export const ENDPOINTS = {
  parse,
  startRun,
  listRuns,
  getRun,
  replyToRun,
  cancelRun,
  followRun,
  followRunByPost,
  readHistory,
  readRaw,
  listRunFiles,
  readEvidence,
  readArtifact,
  exportRun,
  reportRun,
  exportRunCase,
  exportTextCase,
  listEngines,
  submitOrder,
  listIssues,
  getIssue,
  getIssueDiff,
  getIssueRace,
  listWaiting,
  listInbox,
  getInboxItem,
  previewResolution,
  resolveItem,
  listOutbox,
  redeliverComment,
  redeliverSink,
  listSinks,
  listExecutions,
  exportExecutions,
  listWorkers,
  receiveTrigger,
  listBudgets,
  readStatistics,
  openSession,
  getSession,
  closeSession,
  health,
  ready,
  metrics,
} as const satisfies Readonly<Record<string, Endpoint>>;

/** A name in {@link ENDPOINTS}. */
export type EndpointName = keyof typeof ENDPOINTS;
