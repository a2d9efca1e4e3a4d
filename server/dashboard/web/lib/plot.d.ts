// Charts on a canvas.
export { default as uPlot } from 'uplot';
