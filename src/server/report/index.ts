export { gatherReport, type RunReport } from './gather-report.js';
export { renderHtml } from './render-html.js';
export { renderSummary } from './render-summary.js';
