/** The product's name with its mark. */
export const Logo = () => (
  <span className="ws brand">
    <span className="logo" aria-hidden>
      A
    </span>
    Atelier
  </span>
)
