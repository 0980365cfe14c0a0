import { scaleBand, scaleLinear } from 'd3-scale'
import { stack } from 'd3-shape'
import { useLayoutEffect, useRef, useState } from 'react'
import { formatCurrency } from '@/lib/time'
import styles from './Usage.module.css'

const HEIGHT = 220
const LEFT = 56
const BOTTOM = 24
const TOP = 12
const LABEL_WIDTH = 40
/** The top of the scale if less was spent on every day, in millionths of a dollar. */
const MIN_TOP = 100_000

interface BarChartProps {
  /** One sentence that says what the chart shows, for readers who do not see it. */
  label: string
  days: readonly string[]
  /** For each day the amount of each series. */
  amounts: readonly (readonly number[])[]
  colours: readonly string[]
}

/** Stacked bars, one for each day. One unit of the drawing is one pixel, so that its texts have the size of other texts. */
export function BarChart({ label, days, amounts, colours }: BarChartProps) {
  const chart = useRef<SVGSVGElement>(null)
  const [width, setWidth] = useState(640)
  useLayoutEffect(() => {
    const svg = chart.current
    if (!svg) return undefined
    const observer = new ResizeObserver(() => setWidth(svg.clientWidth))
    observer.observe(svg)
    return () => observer.disconnect()
  }, [])
  const totals = amounts.map(row => row.reduce((sum, amount) => sum + amount, 0))
  const x = scaleBand<string>().domain(days).range([LEFT, width]).paddingInner(0.4).paddingOuter(0.2)
  const y = scaleLinear()
    .domain([0, Math.max(MIN_TOP, ...totals)])
    .nice(4)
    .range([HEIGHT - BOTTOM, TOP])
  const layers = stack<readonly number[], number>()
    .keys(colours.map((_, at) => at))
    .value((row, at) => row[at] ?? 0)([...amounts])
  const step = Math.ceil(days.length / Math.max(1, Math.floor((width - LEFT) / LABEL_WIDTH)))
  return (
    <svg ref={chart} className={styles.chart} height={HEIGHT} role="img" aria-label={label}>
      {y.ticks(4).map(tick => (
        <g key={tick} transform={`translate(0 ${y(tick)})`}>
          <line className={styles.grid} x1={LEFT} x2={width} />
          <text x={LEFT - 8} dy="0.32em" textAnchor="end">
            {formatCurrency(tick)}
          </text>
        </g>
      ))}
      {layers.map((layer, at) => (
        <g key={colours[at]} fill={colours[at]}>
          {layer.map(([from, to], index) =>
            to > from ? (
              <rect
                key={days[index]}
                x={x(days[index] ?? '')}
                y={y(to)}
                width={x.bandwidth()}
                height={Math.max(0, y(from) - y(to) - 1)}
                rx={1.5}
              />
            ) : null,
          )}
        </g>
      ))}
      {days.map((day, index) =>
        index % step === 0 ? (
          <text key={day} x={(x(day) ?? 0) + x.bandwidth() / 2} y={HEIGHT - 6} textAnchor="middle">
            {Number(day.slice(8))}
          </text>
        ) : null,
      )}
    </svg>
  )
}
