export {
  reconcile,
  startWorker,
  waitForOrder,
  type ReconcileOptions,
  type Reconciliation,
  type Worker,
  type WorkerOptions,
} from '../dispatch/index.js';
