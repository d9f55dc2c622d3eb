export { gatherReport, type RunReport } from './gather-report.js';
export { renderHtml, renderSummary } from './render-report.js';
