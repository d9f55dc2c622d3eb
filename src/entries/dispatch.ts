export {
  startWorker,
  type Worker,
  type WorkerOptions,
  waitForOrder,
  runDemo,
  type DemoOptions,
  type DemoReport,
} from '../dispatch/index.js';
