export type Layer = 'production' | 'applied' | 'writing'

/** The shape of a layer: ring, disc, caret. Colour never stands alone. */
export const Mark = ({ layer }: { layer: Layer }) => <i className="mark" data-layer={layer} aria-hidden />
