export { gatherReport, type RunReport } from './gather-report.js';
export { renderHtml } from './render-html.js';
export { renderSummary, type SummarizedRun } from './render-summary.js';
