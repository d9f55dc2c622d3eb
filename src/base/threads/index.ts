export { createThreadPool, ThreadError, serveTasks } from './thread-pool.js';
