export {
  reconcile,
  RepoError,
  startWorker,
  waitForOrder,
  type ReconcileOptions,
  type Reconciliation,
  type RepoErrorCode,
  type Worker,
  type WorkerOptions,
} from '../orders/dispatch/index.js';
